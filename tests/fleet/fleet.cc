#include "fleet/fleet.h"

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
  const auto made =
      run_buoy({"world", "--count", "7", "--passages", "3", "--out", (scratch_ / "q.jsonl").string()});
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

ProgramResult FleetTest::shell(const std::string& place, const std::string& line) {
  make_folder(scratch_ / place);
  return run_shell("cd '" + (scratch_ / place).string() + "'; " + line);
}

}  // namespace buoy::testing
