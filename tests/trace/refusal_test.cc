// Traces that are not what they should be, and requests that make no sense.

#include <gtest/gtest.h>

#include "buoy/base/error.h"
#include "buoy/base/sha256.h"
#include "buoy/base/tree_sha256.h"
#include "buoy/trace/reader.h"
#include "buoy/trace/writer.h"
#include "support/edited_trace.h"
#include "support/fails_with.h"
#include "support/temp_folder.h"
#include "trace/small_trace.h"

namespace buoy::trace {
namespace {

namespace fs = std::filesystem;
using testing::edit;
using testing::fails_with;
using testing::holds_in_order;
using testing::small_manifest;
using testing::small_sample;
using testing::snapshot;
using testing::TempFolder;
using testing::write_whole;

using Parts = std::initializer_list<std::string>;

class Refusal : public ::testing::Test {
 protected:
  Refusal() { write_whole(folder_, small_manifest(2)); }

  ::testing::AssertionResult open_fails(Parts parts) const {
    return fails_with<InputError>([&] { TraceReader::open(folder_); }, parts);
  }
  ::testing::AssertionResult read_fails(Parts parts) const {
    return fails_with<InputError>([&] { TraceReader::open(folder_).read("sample-0"); }, parts);
  }
  ::testing::AssertionResult resume_fails(const Manifest& manifest, Parts parts) const {
    const auto before = snapshot(folder_);
    const auto result = fails_with<InputError>([&] { TraceWriter::resume(folder_, manifest); }, parts);
    if (snapshot(folder_) != before) return ::testing::AssertionFailure() << "the folder was changed";
    return result;
  }

  const TempFolder temp_;
  const fs::path folder_ = temp_.path() / "trace";
  const fs::path manifest_ = folder_ / "manifest.json";
  const fs::path sample_ = folder_ / "samples/sample-0.safetensors";
};

TEST_F(Refusal, NoTrace) {
  EXPECT_TRUE(fails_with<InputError>([&] { TraceReader::open(temp_.path() / "absent"); },
                                     {"absent", "a trace", "nothing there"}));
  EXPECT_TRUE(fails_with<InputError>([&] { TraceReader::open(manifest_); }, {"a trace", "a file"}));
  fs::remove(manifest_);
  EXPECT_TRUE(open_fails({"trace", "manifest.json", "no manifest.json"}));
  EXPECT_TRUE(resume_fails(small_manifest(2), {"no manifest.json"}));
}

TEST_F(Refusal, AnotherFormatOrANewerVersion) {
  edit(manifest_, "\"version\": 2", "\"version\": 7");
  EXPECT_TRUE(
      open_fails({"manifest.json: version", "this Buoy reads versions 1 to 4", "the trace is version 7"}));
  EXPECT_TRUE(resume_fails(small_manifest(2), {"the trace is version 7"}));
  edit(manifest_, "\"version\": 7", "\"version\": 0");
  EXPECT_TRUE(open_fails({"manifest.json: version", "1 or more"}));
  edit(manifest_, "buoy-trace", "other-trace");
  EXPECT_TRUE(open_fails({"manifest.json: format", "\"buoy-trace\"", "other-trace"}));
}

TEST_F(Refusal, ALevelThatDoesNotGoWithItsVersion) {
  edit(manifest_, "\"version\": 2", "\"version\": 3");
  EXPECT_TRUE(open_fails({"manifest.json: level", "\"tables\" or \"compact\""}));
  edit(manifest_, "\"version\": 3", "\"version\": 3, \"level\": \"full\"");
  EXPECT_TRUE(open_fails({"manifest.json: level", "\"tables\" or \"compact\"", "full"}));
  edit(manifest_, "\"level\": \"full\"", "\"level\": \"tables\"");
  EXPECT_TRUE(open_fails({"manifest.json: analyses", "an object"}));
  edit(manifest_, "\"level\": \"tables\"", "\"level\": \"tables\", \"analyses\": {\"names\": [1]}");
  EXPECT_TRUE(open_fails({"analyses: names", "a list of texts"}));
  edit(manifest_, "\"names\": [1]", "\"names\": [], \"settings\": {\"epsilon\": \"x\"}");
  EXPECT_TRUE(open_fails({"analyses: settings", "an object of numbers"}));
  edit(manifest_, "\"version\": 3", "\"version\": 2");
  EXPECT_TRUE(open_fails({"manifest.json: level", "none in version 2"}));
}

TEST_F(Refusal, AnotherLevel) {
  Manifest other = small_manifest(2);
  other.level = Level::kTables;
  EXPECT_TRUE(resume_fails(other, {"manifest.json: level", "full as in the trace", "tables"}));
}

TEST_F(Refusal, AManifestThatDoesNotHold) {
  const std::string whole = testing::slurp(manifest_);
  const auto spoiled = [&](const std::string& from, const std::string& to, Parts parts) {
    testing::spill(manifest_, whole);
    edit(manifest_, from, to);
    return open_fails(parts);
  };
  EXPECT_TRUE(spoiled("\"complete\": true", "\"complete\": 1", {"complete", "true or false"}));
  EXPECT_TRUE(spoiled("\"complete\": true,", "", {"complete", "true or false"}));
  EXPECT_TRUE(spoiled("\"storage\": \"F32\"", "\"storage\": \"F64\"", {"storage", "F32", "F16", "F64"}));
  EXPECT_TRUE(spoiled("\"seed\": 1", "\"seed\": -1", {"seed", "at least 0"}));
  EXPECT_TRUE(spoiled("\"layers\": 2", "\"layers\": -2", {"model: layers", "from 1 to 1024"}));
  EXPECT_TRUE(spoiled("\"config_sha256\": \"", "\"config_sha256\": \"x", {"config_sha256", "64"}));
  EXPECT_TRUE(spoiled("\"decoding\": {", "\"decoding\": 3, \"other\": {", {"decoding", "an object"}));
  EXPECT_TRUE(spoiled("\"samples\": [", "\"other\": [", {"samples", "a list"}));
  EXPECT_TRUE(spoiled("\"status\": \"done\"", "\"status\": \"fine\"", {"samples[0]: status", "fine"}));
  EXPECT_TRUE(spoiled("samples/sample-0", "samples/../../x", {"samples[0]: file", "samples/sample-0.saf"}));
  EXPECT_TRUE(spoiled("\"id\": \"sample-0\"", "\"id\": \"../sample-0\"", {"samples[0]: id", "../sample-0"}));
  EXPECT_TRUE(spoiled("\"id\": \"sample-0\"", "\"id\": 3", {"samples[0]: id", "3"}));
  EXPECT_TRUE(spoiled("\"tree_sha256\": \"", "\"tree_sha256\": \"x", {"samples[0]: tree_sha256", "64"}));
  EXPECT_TRUE(spoiled("\"tree_sha256\": \"", "\"checksum\": \"x", {"samples[0]: checksum", "64"}));
  EXPECT_TRUE(spoiled("\"tree_sha256\": \"", "\"other\": \"", {"samples[0]: checksum", "text", "nothing"}));
  EXPECT_TRUE(spoiled("\"tree_sha256\": \"", "\"checksum\": \"x\", \"tree_sha256\": \"",
                      {"samples[0]: checksum", "nothing beside tree_sha256"}));
  EXPECT_TRUE(spoiled("\"bytes\": ", "\"bytes\": -", {"samples[0]: bytes", "at least 0"}));
  EXPECT_TRUE(spoiled("{", "", {"manifest.json", "valid JSON"}));
  testing::spill(manifest_, whole);
  edit(manifest_, "sample-1", "sample-0");
  edit(manifest_, "samples/sample-1", "samples/sample-0");
  EXPECT_TRUE(open_fails({"samples[1]", "each id once", "sample-0"}));
}

TEST_F(Refusal, UnknownFieldsArePassedOver) {
  testing::remove_manifest_sum(manifest_);
  edit(manifest_, "\"format\"", "\"later\": {\"a\": 1}, \"format\"");
  edit(manifest_, "\"status\"", "\"seconds\": 3, \"status\"");
  EXPECT_NO_THROW(TraceReader::open(folder_).read("sample-0"));
}

// Fields that no sample can contradict: the manifest's own sum tells that they were changed.
TEST_F(Refusal, AManifestChangedByHand) {
  const std::string whole = testing::slurp(manifest_);
  for (const auto& [from, to] : {std::pair{"\"head_dim\": 4", "\"head_dim\": 8"},
                                 {"\"layers\": 2,", "\"layers\": 3,"},
                                 {"\"temperature\": 0.1", "\"temperature\": 0.2"},
                                 {"\"seed\": 1", "\"seed\": "}}) {
    testing::spill(manifest_, whole);
    edit(manifest_, from, to);
    EXPECT_TRUE(open_fails({"manifest.json: checksum", "of its fields", "`trust`"})) << from;
    EXPECT_NO_THROW(TraceReader::open(folder_, Integrity::kSizeOnly).read("sample-0")) << from;
  }
  testing::spill(manifest_, whole);
  edit(manifest_, "\"a test\"", "\"another machine\"");
  EXPECT_NO_THROW(TraceReader::open(folder_)) << "notes for people";
}

TEST_F(Refusal, DamagedSamples) {
  const std::string whole = testing::slurp(sample_);
  std::string flipped = whole;
  flipped[flipped.size() - 25] ^= 1;  // the last number of received; behind it are 16 + 5 bytes
  testing::spill(sample_, flipped);
  EXPECT_TRUE(
      read_fails({"sample-0.safetensors", "expected SHA-256", "tree_sha256", "found", "was changed"}));
  EXPECT_NO_THROW(TraceReader::open(folder_, Integrity::kSizeOnly).read("sample-0"));
  testing::spill(sample_, whole.substr(0, 333));
  EXPECT_TRUE(read_fails({"sample-0.safetensors", "expected 1", "bytes", "found 333"}));
  fs::remove(sample_);
  EXPECT_TRUE(read_fails({"sample-0.safetensors", "no such file"}));
  testing::spill(folder_ / "samples/stray.bin", "?");
  const auto problems = TraceReader::open(folder_).verify();
  ASSERT_EQ(problems.size(), 2u);
  EXPECT_TRUE(holds_in_order(problems[0], {"sample-0.safetensors", "no such file"}));
  EXPECT_TRUE(holds_in_order(problems[1], {"stray.bin", "belongs to no sample"}));
}

// With the sum put right, so that only the contents are wrong.
TEST_F(Refusal, SamplesThatAreOtherFiles) {
  testing::remove_manifest_sum(manifest_);
  const auto size_field = [](size_t count) { return "\"bytes\": " + std::to_string(count); };
  const auto replaced = [&](const std::string& bytes, Parts parts) {
    const SampleEntry old = TraceReader::open(folder_).samples().at(0);
    edit(manifest_, old.tree_sha256, tree_sha256_hex(std::as_bytes(std::span(bytes))));
    edit(manifest_, size_field(old.bytes), size_field(bytes.size()));
    testing::spill(sample_, bytes);
    return read_fails(parts);
  };
  EXPECT_TRUE(
      replaced(format_sample(small_sample(1), Storage::kF32), {"sample sample-0", "sample sample-1"}));
  EXPECT_TRUE(replaced("no safetensors at all", {"sample-0.safetensors: header"}));
  EXPECT_TRUE(replaced(std::string("\x02\0\0\0\0\0\0\0{}", 10), {"__metadata__: format", "a text", "none"}));
  std::string other = format_sample(small_sample(0), Storage::kF32);
  other.replace(other.find("buoy-trace-sample"), 17, "buoy-cargo-sample");
  EXPECT_TRUE(replaced(other, {"format", "buoy-trace-sample", "buoy-cargo-sample"}));
  other = format_sample(small_sample(0), Storage::kF32);
  other.replace(other.find("\"version\":\"2\""), 13, "\"version\":\"3\"");
  EXPECT_TRUE(replaced(other, {"version", "1 to 2", "3"}));
}

TEST_F(Refusal, AnotherRun) {
  const auto differs = [&](const std::function<void(Manifest&)>& change, Parts parts) {
    Manifest manifest = small_manifest(2);
    change(manifest);
    return resume_fails(manifest, parts);
  };
  EXPECT_TRUE(differs([](Manifest& m) { m.model.config_sha256 = sha256_hex("other"); },
                      {"manifest.json: model.config_sha256", "expected", "as in the trace", "found"}));
  EXPECT_TRUE(differs([](Manifest& m) { m.model.weights_sha256 = sha256_hex("other"); }, {"weights_sha256"}));
  EXPECT_TRUE(differs([](Manifest& m) { m.model.layers = 3; }, {"model.layers", "2 as in", "found 3"}));
  EXPECT_TRUE(differs([](Manifest& m) { m.tokenizer_sha256.reset(); }, {": tokenizer_sha256", "found null"}));
  EXPECT_TRUE(differs([](Manifest& m) { m.decoding = R"({"steps": 8, "temperature": 0.1, "order": "x"})"; },
                      {": decoding.order", "low_confidence", "\"x\""}));
  EXPECT_TRUE(differs([](Manifest& m) { m.decoding = "{}"; }, {": decoding.order", "found nothing"}));
  EXPECT_TRUE(
      differs([](Manifest& m) { m.probe.insert(1, "\"more\": 1, "); }, {": probe.more", "nothing", "1"}));
  EXPECT_TRUE(differs([](Manifest& m) { m.storage = Storage::kF16; }, {": storage", "F32", "F16"}));
  EXPECT_TRUE(differs([](Manifest& m) { m.seed = 3; }, {": seed", "found 3"}));
  EXPECT_TRUE(differs([](Manifest& m) { m.created_by = "buoy 9"; }, {": created_by", "buoy 9"}));
  EXPECT_TRUE(differs([](Manifest& m) { m.sample_ids[1] = "other"; }, {": planned[1]", "sample-1", "other"}));
  EXPECT_TRUE(differs([](Manifest& m) { m.sample_ids.pop_back(); }, {": planned"}));
  Manifest same = small_manifest(2);
  same.command = same.machine = same.model.name = "elsewhere";
  same.decoding = R"({"order":"low_confidence","temperature":0.1,"steps":4})";
  EXPECT_NO_THROW(TraceWriter::resume(folder_, same));
}

// What an earlier Buoy finished stays as it is; what it did not finish is left to it.
TEST_F(Refusal, UnfinishedRunsOfAnEarlierVersion) {
  const fs::path old = fs::path(BUOY_TEST_DATA) / "trace/v0.1", copy = temp_.path() / "old";
  fs::create_directories(copy);
  fs::copy(old / "incomplete", copy / "incomplete", fs::copy_options::recursive);
  fs::copy(old / "diffusion", copy / "diffusion", fs::copy_options::recursive);
  const auto refused = [&](const fs::path& folder) {
    const auto before = snapshot(folder);
    const Manifest run = TraceReader::open(folder).manifest();
    const auto result = fails_with<InputError>([&] { TraceWriter::resume(folder, run); },
                                               {"manifest.json: version", "2", "continued by", "found 1"});
    EXPECT_TRUE(testing::same_files(snapshot(folder), before));
    return result;
  };
  EXPECT_TRUE(refused(copy / "incomplete"));
  const auto before = snapshot(copy / "diffusion");
  TraceWriter::resume(copy / "diffusion", TraceReader::open(copy / "diffusion").manifest()).finish();
  EXPECT_TRUE(testing::same_files(snapshot(copy / "diffusion"), before));
  fs::remove(copy / "diffusion" / TraceReader::open(copy / "diffusion").samples().at(0).file);
  EXPECT_TRUE(refused(copy / "diffusion"));
}

TEST_F(Refusal, AJournalThatDoesNotHold) {
  const fs::path folder = temp_.path() / "unfinished";
  const auto journal = folder / "samples.jsonl";
  {
    auto writer = TraceWriter::create(folder, small_manifest(2));
    writer.write(small_sample(0));
  }
  const auto fails = [&](Parts parts) {
    return fails_with<InputError>([&] { TraceReader::open(folder); }, parts);
  };
  const std::string whole = testing::slurp(journal);
  testing::spill(journal, "nonsense\n" + whole);
  EXPECT_TRUE(fails({"samples.jsonl: line 1", "valid JSON"}));
  testing::spill(journal, whole + R"({"id": "other", "status": "failed", "error": "x"})" + "\n");
  EXPECT_TRUE(fails({"samples.jsonl", "plans", "sample other"}));
  testing::spill(journal, whole + R"({"id": "sample-0", "status": "failed", "error": "x"})" + "\n");
  EXPECT_EQ(TraceReader::open(folder).samples().at(0).status, Status::kFailed);
}

TEST_F(Refusal, WritesThatMakeNoSense) {
  const auto refused = [](const std::function<void()>& action, Parts parts) {
    return fails_with<UsageError>(action, parts);
  };
  EXPECT_TRUE(
      refused([&] { TraceWriter::create(folder_, small_manifest(1)); }, {"empty folder", "2 entries"}));
  const fs::path folder = temp_.path() / "new";
  Manifest manifest = small_manifest(2);
  manifest.sample_ids[1] = "../x";
  EXPECT_TRUE(refused([&] { TraceWriter::create(folder, manifest); }, {"sample id", "../x"}));
  manifest.sample_ids[1] = "sample-0";
  EXPECT_TRUE(refused([&] { TraceWriter::create(folder, manifest); }, {"each id once", "sample-0"}));
  manifest = small_manifest(2);
  manifest.model.config_sha256 = "abc";
  EXPECT_TRUE(refused([&] { TraceWriter::create(folder, manifest); }, {"config_sha256", "64", "abc"}));
  manifest = small_manifest(2);
  manifest.probe = "[1]";
  EXPECT_TRUE(refused([&] { TraceWriter::create(folder, manifest); }, {"probe", "a JSON object", "a list"}));
  EXPECT_FALSE(fs::exists(folder));

  auto writer = TraceWriter::create(folder, small_manifest(2));
  writer.write(small_sample(0));
  EXPECT_TRUE(refused([&] { writer.write(small_sample(0)); }, {"each sample once", "sample-0"}));
  EXPECT_TRUE(refused([&] { writer.write(small_sample(5)); }, {"plans", "sample-5"}));
  EXPECT_TRUE(refused([&] { writer.write_failure("../x", "e"); }, {"sample id", "../x"}));
  EXPECT_TRUE(refused([&] { writer.finish(); }, {"all 2 samples", "1, without sample-1"}));
  const TraceReader reader = TraceReader::open(folder);
  EXPECT_TRUE(refused([&] { reader.read("sample-1"); }, {"sample-1", "not reached yet"}));
  EXPECT_TRUE(refused([&] { reader.read("../x"); }, {"../x", "unknown"}));
}

}  // namespace
}  // namespace buoy::trace
