// `buoy trace`: what it stores is what happened, watching changes nothing, and a killed run goes on.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "app/program.h"
#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"
#include "buoy/trace/reader.h"
#include "buoy/trace/schema.h"
#include "support/golden.h"
#include "support/temp_folder.h"

namespace buoy {
namespace {

using testing::run_buoy;
using testing::TempFolder;
namespace fs = std::filesystem;

std::string golden(const std::string& name) {
  return (testing::data_folder() / "goldens" / name).string();
}

std::vector<std::string> with(std::vector<std::string> call, const std::vector<std::string>& more) {
  call.insert(call.end(), more.begin(), more.end());
  return call;
}

// Every file of a folder by its name, the manifest without the fields that say who ran it where.
std::map<std::string, std::string> contents(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    const auto name = fs::relative(entry.path(), folder).string();
    files[name] = read_file(entry.path());
    if (name == "manifest.json") {
      Json manifest = Json::parse(files[name]);
      manifest.erase("command");
      files[name] = manifest.dump();
    }
  }
  return files;
}

// A trace of the talking model in a folder on the questions beside it.
std::vector<std::string> trace_questions(const TempFolder& scratch, const std::vector<std::string>& more) {
  testing::write_talking_model(scratch / "model", true);
  return with({"trace", "--model", (scratch / "model").string(), "--data", (scratch / "q.jsonl").string()},
              more);
}

void write_questions(const fs::path& path, int count) {
  std::string lines;
  for (int i = 0; i < count; ++i)
    lines += fmt::format("{{\"id\": \"q{}\", \"question\": \"what floats {}?\"}}\n", i, i);
  write_file_atomically(path, lines);
}

TEST(Trace, HoldsTheTokensOfAnUnwatchedRunAndRowsThatSumToOne) {
  for (const std::string name : {"llada-f32", "dream-f32", "llama31-f32", "qwen2-f32", "qwen3-bf16"}) {
    SCOPED_TRACE(name);
    const TempFolder scratch;
    const std::vector<std::string> decoding = {"--model",          golden(name), "--ids",         "5,6,7,8",
                                               "--max-new-tokens", "10",         "--temperature", "0.7",
                                               "--seed",           "3"};
    const auto plain = run_buoy(with({"generate", "--json"}, decoding));
    ASSERT_EQ(plain.exit_code, 0) << plain.err;
    const auto traced =
        run_buoy(with({"trace", "--observe", "all,dense", "--out", (scratch / "t").string()}, decoding));
    ASSERT_EQ(traced.exit_code, 0) << traced.err;

    const auto reader = trace::TraceReader::open(scratch / "t");
    EXPECT_TRUE(reader.complete());
    EXPECT_TRUE(reader.verify().empty());
    const auto sample = reader.read("prompt");
    const auto tokens = sample.integers(trace::kTokens);
    const auto ids = Json::parse(plain.out)["ids"].get<std::vector<std::int32_t>>();
    EXPECT_EQ(std::vector<std::int32_t>(tokens.begin() + 4, tokens.end()), ids) << "watching changed the run";

    const auto shape = sample.shape(trace::kReceived);  // [S, L, G, H, T]
    const auto received = sample.floats(trace::kReceived);
    const auto sizes = sample.integers(trace::kGroupSizes);
    const auto per_head = static_cast<size_t>(shape[4]);
    ASSERT_EQ(shape[4], static_cast<std::int64_t>(tokens.size()));
    for (size_t at = 0; at < received.size(); at += per_head) {
      const size_t group = at / per_head / static_cast<size_t>(shape[3]) % static_cast<size_t>(shape[2]);
      const size_t step = at / per_head / static_cast<size_t>(shape[3] * shape[2] * shape[1]);
      const double sum = std::accumulate(received.begin() + static_cast<std::ptrdiff_t>(at),
                                         received.begin() + static_cast<std::ptrdiff_t>(at + per_head), 0.0);
      ASSERT_NEAR(sum, sizes[step * static_cast<size_t>(shape[2]) + group], 1e-5)
          << "each query gives away one";
    }
    // The stored column sums are those of the stored matrix.
    const auto dense = sample.floats(trace::dense_name(0, 0));
    double first_column = 0, stored = 0;
    for (size_t i = 0; i < per_head; ++i) first_column += dense[i * per_head];
    for (std::int64_t g = 0; g < shape[2]; ++g)
      stored += received[static_cast<size_t>(g * shape[3] * shape[4])];
    EXPECT_NEAR(stored, first_column, 1e-5);
  }
}

TEST(Trace, SameSeedSameBytes) {
  const TempFolder scratch;
  write_questions(scratch / "q.jsonl", 3);
  const auto call = trace_questions(
      scratch, {"--max-new-tokens", "8", "--temperature", "1", "--observe", "all", "--float16", "--out"});
  ASSERT_EQ(run_buoy(with(call, {(scratch / "a").string()})).exit_code, 0);
  ASSERT_EQ(run_buoy(with(call, {(scratch / "b").string(), "--threads", "1"})).exit_code, 0);
  EXPECT_EQ(contents(scratch / "a"), contents(scratch / "b"));
}

TEST(Trace, ChangesAreSaidAndNotContinuedByOthers) {
  const TempFolder scratch;
  write_questions(scratch / "q.jsonl", 2);
  const auto call = trace_questions(scratch, {"--max-new-tokens", "4", "--out", (scratch / "t").string()});
  ASSERT_EQ(run_buoy(with(call, {"--scale-keys", "0=0", "--scale-heads", "0.0=0.5"})).exit_code, 0);
  const auto inspected = run_buoy({"inspect", (scratch / "t").string()});
  EXPECT_NE(inspected.out.find("heads 0.0=0.5, keys 0=0"), std::string::npos) << inspected.out;
  EXPECT_NE(inspected.out.find("regions"), std::string::npos) << inspected.out;
  const auto other = run_buoy(with(call, {"--scale-keys", "0=0", "--resume"}));
  EXPECT_EQ(other.exit_code, 3);
  EXPECT_NE(other.err.find("probe.changes"), std::string::npos) << other.err;
}

// The vector counts, not the name of its file.
TEST(Trace, VectorsOfTheResidualStreamComeFromFiles) {
  const TempFolder scratch;
  write_questions(scratch / "q.jsonl", 1);
  const auto call = trace_questions(scratch, {"--max-new-tokens", "2", "--out", (scratch / "t").string()});
  const std::string file = (scratch / "v.npy").string();
  const auto refused = [&](const char* flag, const std::string& text, const std::string& said) {
    const auto run = run_buoy(with(call, {flag, text}));
    EXPECT_NE(run.exit_code, 0) << text;
    EXPECT_NE(run.err.find(said), std::string::npos) << run.err;
    EXPECT_FALSE(fs::exists(scratch / "t")) << text;
  };
  refused("--steer", "all@0=" + file, "v.npy");
  std::ofstream(file) << "no array";
  refused("--patch", "0@0=" + file, "numpy.save");
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }";
  header.resize(117, ' ');
  std::ofstream(file, std::ios::binary) << std::string("\x93NUMPY\x01\x00\x76\x00", 10) << header << '\n'
                                        << std::string(4, '\0');
  refused("--steer", "all@0=" + file, "--steer");  // another width than the model's
  refused("--steer", "all=" + file, "--steer");
  refused("--scale-mlp", "99=0", "--scale-mlp");
  ASSERT_EQ(run_buoy(with(call, {"--scale-mlp", "0=0.5"})).exit_code, 0);
  const auto inspected = run_buoy({"inspect", (scratch / "t").string()});
  EXPECT_NE(inspected.out.find("mlp 0=0.5"), std::string::npos) << inspected.out;
}

// What no sample can have is refused before there is a folder; the rest fails the samples that lack it.
TEST(Trace, ChangesOfNothingAreRefused) {
  const TempFolder scratch;
  write_questions(scratch / "q.jsonl", 1);
  const auto call = trace_questions(scratch, {"--max-new-tokens", "4", "--out", (scratch / "t").string()});
  for (const char* keys : {"0", "5-3=0", "0@99=0"}) {
    const auto run = run_buoy(with(call, {"--scale-keys", keys}));
    EXPECT_EQ(run.exit_code, 2) << keys;
    EXPECT_NE(run.err.find("--scale-keys"), std::string::npos) << run.err;
  }
  EXPECT_NE(run_buoy(with(call, {"--scale-heads", "99.0=0"})).err.find("--scale-heads"), std::string::npos);
  EXPECT_FALSE(fs::exists(scratch / "t"));
  for (const char* keys : {"5000=0", "0/77=0", "nowhere=0"}) {
    const auto run = run_buoy(with(call, {"--scale-keys", keys}));
    EXPECT_EQ(run.exit_code, 3) << keys;
    EXPECT_NE(run.err.find("--scale-keys"), std::string::npos) << run.err;
    fs::remove_all(scratch / "t");
  }
}

TEST(Trace, TakesFieldsByTheNamesTheyAreGiven) {
  const TempFolder scratch;
  write_file_atomically(scratch / "q.jsonl", "{\"nummer\": \"7\", \"frage\": \"who is it?\"}\n");
  const auto call = trace_questions(scratch, {"--max-new-tokens", "4", "--out", (scratch / "t").string()});
  EXPECT_EQ(run_buoy(call).exit_code, 3);
  const auto named = run_buoy(with(call, {"--field", "question=frage", "--field", "id=nummer"}));
  ASSERT_EQ(named.exit_code, 0) << named.err;
  EXPECT_NE(read_file(scratch / "t" / "manifest.json").find("\"7\""), std::string::npos);
}

TEST(Trace, AKilledRunGoesOnAndEndsTheSame) {
  const TempFolder scratch;
  write_questions(scratch / "q.jsonl", 40);
  const auto call = trace_questions(scratch, {"--max-new-tokens", "16", "--observe", "all", "--out"});
  ASSERT_EQ(run_buoy(with(call, {(scratch / "whole").string()})).exit_code, 0);
  // SIGKILL after a moment; the exit code of timeout -s KILL is 137.
  const auto killed = run_buoy(with(call, {(scratch / "killed").string()}), "timeout -s KILL 0.15 ");
  if (killed.exit_code == 0) GTEST_SKIP() << "the run was over before it could be killed";
  if (fs::exists(scratch / "killed" / "manifest.json") &&
      trace::TraceReader::open(scratch / "killed").complete()) {  // killed between its last write and its end
    EXPECT_EQ(contents(scratch / "killed"), contents(scratch / "whole"));
  }
  const auto resumed = run_buoy(with(call, {(scratch / "killed").string(), "--resume"}));
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(contents(scratch / "killed"), contents(scratch / "whole"));
}

TEST(Trace, RefusesAnotherRunsFolder) {
  const TempFolder scratch;
  const std::vector<std::string> call = {
      "trace", "--ids", "5,6", "--max-new-tokens", "4", "--out", (scratch / "t").string(), "--model"};
  ASSERT_EQ(run_buoy(with(call, {golden("llada-f32")})).exit_code, 0);
  const auto again = run_buoy(with(call, {golden("llada-f32")}));
  EXPECT_NE(again.exit_code, 0) << "a folder that is not empty";
  const auto other = run_buoy(with(call, {golden("llada-bf16"), "--resume"}));
  EXPECT_EQ(other.exit_code, 3) << other.err;
  EXPECT_NE(other.err.find("manifest.json"), std::string::npos) << other.err;
}

TEST(Trace, InspectSaysWhatIsInItAndFindsDamage) {
  const TempFolder scratch;
  ASSERT_EQ(run_buoy({"trace", "--model", golden("llada-f32"), "--ids", "5,6", "--max-new-tokens", "4",
                      "--out", (scratch / "t").string()})
                .exit_code,
            0);
  const auto whole = run_buoy({"inspect", "--json", (scratch / "t").string()});
  ASSERT_EQ(whole.exit_code, 0) << whole.err;
  const Json facts = Json::parse(whole.out);
  EXPECT_EQ(facts["done"], 1);
  EXPECT_EQ(facts["arrays"]["received"]["shape"], Json({5, 2, 4, 4, 6}));

  const auto file = scratch / "t" / "samples" / "prompt.safetensors";
  std::string bytes = read_file(file);
  bytes[bytes.size() - 3] = static_cast<char>(bytes[bytes.size() - 3] ^ 1);
  write_file_atomically(file, bytes);
  const auto damaged = run_buoy({"inspect", (scratch / "t").string()});
  EXPECT_EQ(damaged.exit_code, 3);
  EXPECT_NE(damaged.out.find("prompt"), std::string::npos) << damaged.out;
}

TEST(Trace, BadRequestsAreExplained) {
  const TempFolder scratch;
  const std::vector<std::string> call = {"trace", "--model", golden("llada-f32"),
                                         "--ids", "5,6",     "--max-new-tokens",
                                         "4",     "--out",   (scratch / "t").string()};
  const auto unknown = run_buoy(with(call, {"--observe", "recieved"}));
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_NE(unknown.err.find("received"), std::string::npos) << unknown.err;
  EXPECT_EQ(run_buoy(with(call, {"--layers", "0-7"})).exit_code, 2);
  write_file_atomically(scratch / "bad.jsonl", "{\"question\": \"fine\"}\n{\"qestion\": \"not\"}\n");
  const auto data = run_buoy({"trace", "--model", golden("llada-f32"), "--data",
                              (scratch / "bad.jsonl").string(), "--out", (scratch / "t").string()});
  EXPECT_EQ(data.exit_code, 3);
  EXPECT_NE(data.err.find("bad.jsonl:2"), std::string::npos) << data.err;
  EXPECT_FALSE(fs::exists(scratch / "t"));
}

// Generated, traced and analysed, all of a model that decodes blocks.
TEST(Trace, OfBlocksIsReadAndAnalysed) {
  const testing::TempFolder scratch;
  const auto model = (testing::data_folder() / "families/sdar-f32").string();
  const std::vector<std::string> decoding = {"--model",          model, "--ids", "26,7,71,5,34,69",
                                             "--max-new-tokens", "12"};
  const auto written = run_buoy(with({"generate", "--json"}, decoding));
  ASSERT_EQ(written.exit_code, 0) << written.err;
  const std::string folder = (scratch / "t").string();
  const auto traced = run_buoy(with(with({"trace", "--out", folder}, decoding), {"--observe", "all"}));
  ASSERT_EQ(traced.exit_code, 0) << traced.err;
  const auto facts = run_buoy({"inspect", "--json", folder});
  EXPECT_EQ(facts.exit_code, 0) << facts.err;
  EXPECT_EQ(read_json_file(scratch / "t" / "manifest.json")["version"], 4);
  for (const char* name : {"absorption", "floating", "drift", "qk", "flow"}) {
    const auto made = run_buoy({"analyze", name, folder, "--out", (scratch / name).string()});
    EXPECT_EQ(made.exit_code, 0) << name << ": " << made.err;
  }
  const auto watched = run_buoy(with({"watch", "--out", (scratch / "w").string()}, decoding));
  EXPECT_EQ(watched.exit_code, 0) << watched.err;
  const auto map = read_file(scratch / "w" / "tables" / "drift_map.csv");
  EXPECT_NE(map.find("\n"), std::string::npos);
  const auto less = run_buoy({"compact", folder, "--out", (scratch / "less").string()});
  EXPECT_EQ(less.exit_code, 0) << less.err;
  const auto changed = run_buoy(with(with({"generate"}, decoding), {"--scale-heads", "0.1/2=0"}));
  EXPECT_EQ(changed.exit_code, 0) << changed.err;
}

}  // namespace
}  // namespace buoy
