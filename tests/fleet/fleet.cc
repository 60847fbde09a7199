#include "fleet/fleet.h"

#include <chrono>
#include <random>

#include "buoy/base/file/files.h"
#include "support/golden.h"

namespace buoy::testing {
namespace {

namespace fs = std::filesystem;

std::string model(const char* name) {
  return fs::absolute(data_folder() / "../../models" / name).lexically_normal().string();
}

std::vector<std::string> words(const std::string& command, std::vector<std::string> more) {
  std::vector<std::string> out = {command,
                                  "--data",
                                  "../q.jsonl",
                                  "--template",
                                  model("planted.prompt"),
                                  "--max-new-tokens",
                                  "8",
                                  "--device",
                                  "cpu",
                                  "--threads",
                                  "1",
                                  "--out",
                                  "run"};
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

}  // namespace

Files run_files(const fs::path& folder) {
  Files files;
  if (!path_exists(folder)) return files;
  for (fs::recursive_directory_iterator at(folder), end; at != end; ++at) {
    if (at->path().filename() == "shards") at.disable_recursion_pending();
    if (at->is_regular_file()) files[fs::relative(at->path(), folder).string()] = read_file(at->path());
  }
  return files;
}

::testing::AssertionResult same_run(const fs::path& a, const fs::path& b) {
  const Files left = run_files(a), right = run_files(b);
  if (left.empty()) return ::testing::AssertionFailure() << a << " is empty";
  for (const auto& [name, bytes] : left) {
    const auto found = right.find(name);
    if (found == right.end()) return ::testing::AssertionFailure() << name << " is in " << a << " alone";
    if (found->second != bytes)
      return ::testing::AssertionFailure() << name << " differs: " << bytes.substr(0, 300) << "\n"
                                           << found->second.substr(0, 300);
  }
  for (const auto& [name, bytes] : right) {
    if (!left.contains(name)) return ::testing::AssertionFailure() << name << " is in " << b << " alone";
  }
  return ::testing::AssertionSuccess();
}

FleetTest::FleetTest() {
  ask(7);
}

void FleetTest::ask(int questions) {
  const auto file = scratch_ / "q.jsonl";
  fs::remove(file);
  const auto made =
      run_buoy({"world", "--count", std::to_string(questions), "--passages", "3", "--out", file.string()});
  EXPECT_EQ(made.exit_code, 0) << made.err;
}

const std::vector<std::string>& FleetTest::trace() {
  static const auto call =
      words("trace", {"--model", model("planted-diffusion"), "--observe", "received,entropy"});
  return call;
}

const std::vector<std::string>& FleetTest::eval() {
  static const auto call = words("eval", {"--model", "d=" + model("planted-diffusion"), "--model",
                                          "a=" + model("planted-autoregressive"), "--passages", "3",
                                          "--closed-book", "--resamples", "100"});
  return call;
}

const std::vector<std::string>& FleetTest::watch() {
  static const auto call =
      words("watch", {"--model", model("planted-diffusion"), "--analyze", "floating,drift,qk", "--resamples",
                      "50", "--keep", "compact", "--compact-samples", "2"});
  return call;
}

ProgramResult FleetTest::run(const std::string& place, const std::vector<std::string>& words,
                             const std::vector<std::string>& more, const std::string& prelude) {
  make_folder(scratch_ / place);
  auto all = words;
  all.insert(all.end(), more.begin(), more.end());
  return run_buoy(all, "cd '" + (scratch_ / place).string() + "'; " + prelude);
}

void FleetTest::run_well(const std::string& place, const std::vector<std::string>& words,
                         const std::vector<std::string>& more, const std::string& prelude) {
  const auto result = run(place, words, more, prelude);
  ASSERT_EQ(result.exit_code, 0) << place << ": " << result.err;
}

std::string FleetTest::line(const std::vector<std::string>& words) {
  std::string call = BUOY_PROGRAM;
  for (const auto& word : words) call += " '" + word + "'";
  return call;
}

std::string FleetTest::until_a_sample(const std::string& part) {
  const std::string folder = "run/shards/" + part;
  return "for i in $(seq 4000); do [ -n \"$(find " + folder + "/samples/*.safetensors " + folder +
         "/answers.partial.jsonl -size +0 2> /dev/null)\" ] && break; sleep 0.005; done; ";
}

ProgramResult FleetTest::shell(const std::string& place, const std::string& text) {
  make_folder(scratch_ / place);
  return run_shell("cd '" + (scratch_ / place).string() + "'; " + text);
}

void FleetTest::kill_joins(const std::vector<std::string>& words, int moments) {
  std::mt19937 random(22);
  const std::string& kind = words.front();
  run_well(kind + "-single", words);
  for (const char* shard : {"0/2", "1/2"}) run_well(kind, words, {"--shard", shard});
  shell(kind, "cp -a run parts");
  const auto began = std::chrono::steady_clock::now();
  run_well(kind, {"merge", "run"});
  const std::chrono::duration<double> takes = std::chrono::steady_clock::now() - began;
  int killed = 0;
  for (int moment = 0; moment < moments; ++moment) {
    const auto seconds = std::uniform_real_distribution<double>(0.001, takes.count())(random);
    const auto joined = shell(kind, "rm -rf run; cp -a parts run; timeout -s KILL " +
                                        std::to_string(seconds) + " \"" BUOY_PROGRAM "\" merge run");
    killed += joined.exit_code == 137 ? 1 : 0;
    run_well(kind, {"merge", "run"});
    EXPECT_TRUE(same_run(out(kind + "-single"), out(kind))) << kind << ", killed after " << seconds << " s";
  }
  EXPECT_GE(killed, moments / 4) << kind << ": most were over before they could be killed";
}

}  // namespace buoy::testing
