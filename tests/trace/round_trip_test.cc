// What goes into a trace comes out of it.

#include <gtest/gtest.h>

#include <cstdlib>

#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "buoy/trace/reader.h"
#include "buoy/trace/schema.h"
#include "buoy/trace/writer.h"
#include "support/fails_with.h"
#include "support/temp_folder.h"
#include "trace/small_trace.h"

namespace buoy::trace {
namespace {

using testing::fails_with;
using testing::same_files;
using testing::small_manifest;
using testing::small_sample;
using testing::snapshot;
using testing::TempFolder;
using testing::write_whole;

TEST(Trace, KeepsTheManifest) {
  const TempFolder temp;
  const Manifest written = small_manifest(2);
  write_whole(temp.path() / "deep/trace", written);
  const TraceReader reader = TraceReader::open(temp.path() / "deep/trace");
  const Manifest& read = reader.manifest();
  EXPECT_TRUE(reader.complete());
  EXPECT_NO_THROW(require_same_run(read, written, "manifest"));
  EXPECT_EQ(read.created_by, written.created_by);
  EXPECT_EQ(read.command, written.command);
  EXPECT_EQ(read.machine, written.machine);
  EXPECT_EQ(read.model.name, written.model.name);
  EXPECT_EQ(read.model.vocabulary, 32);
  EXPECT_EQ(read.model.weights_sha256, written.model.weights_sha256);
  EXPECT_EQ(read.tokenizer_sha256, written.tokenizer_sha256);
  EXPECT_EQ(read.decoding, R"({"order":"low_confidence","steps":4,"temperature":0.1})");
  EXPECT_EQ(read.seed, 18446744073709551615u);
  EXPECT_EQ(read.sample_ids, written.sample_ids);
}

TEST(Trace, KeepsHowManyParametersAModelHasWhereThatIsKnown) {
  const TempFolder temp;
  Manifest written = small_manifest(1);
  write_whole(temp.path() / "unknown", written);
  EXPECT_EQ(TraceReader::open(temp.path() / "unknown").manifest().model.parameters, 0);
  EXPECT_EQ(read_file(temp.path() / "unknown/manifest.json").find("parameters"), std::string::npos);
  written.model.parameters = 7'082'240;
  write_whole(temp.path() / "known", written);
  EXPECT_EQ(TraceReader::open(temp.path() / "known").manifest().model.parameters, 7'082'240);
  std::string text = read_file(temp.path() / "known/manifest.json");
  text.replace(text.find("7082240"), 7, "-708224");
  write_file_atomically(temp.path() / "known/manifest.json", text);
  EXPECT_TRUE(fails_with<InputError>([&] { TraceReader::open(temp.path() / "known"); },
                                     {"manifest.json", "parameters"}));
}

TEST(Trace, KeepsTheSamples) {
  for (const Storage storage : {Storage::kF32, Storage::kF16}) {
    const TempFolder temp;
    write_whole(temp.path(), small_manifest(3, storage));
    const TraceReader reader = TraceReader::open(temp.path());
    ASSERT_EQ(reader.samples().size(), 3u);
    EXPECT_EQ(reader.verify(), std::vector<std::string>{});
    for (int number = 0; number < 3; ++number) {
      const StoredSample sample = reader.read("sample-" + std::to_string(number));
      EXPECT_EQ(sample.id(), "sample-" + std::to_string(number));
      EXPECT_EQ(sample.names().size(), 6u);
      EXPECT_TRUE(sample.has(kReceived));
      EXPECT_FALSE(sample.has(kEntropy));
      EXPECT_EQ(sample.dtype(kReceived), name_of(storage));
      EXPECT_EQ(sample.shape(kReceived), (std::vector<std::int64_t>{2, 2, 2, 4, 5 + number}));
      const auto received = sample.floats(kReceived);
      ASSERT_EQ(received.size(), static_cast<size_t>(32 * (5 + number)));
      for (size_t i = 0; i < received.size(); ++i) ASSERT_EQ(received[i], static_cast<float>(i % 97) / 64);
      EXPECT_EQ(sample.integers(kTokens).at(1), number + 1);
      EXPECT_EQ(sample.integers(kRegionOfToken).back(), kNoRegion);
      EXPECT_EQ(sample.text(kQuestion), "Wo treibt die Boje? \xF0\x9F\x9B\x9F");
      EXPECT_EQ(sample.integer_text(kPromptLength), 3);
      EXPECT_EQ(sample.text_list(kRegionNames), (std::vector<std::string>{"bos", "query"}));
      EXPECT_EQ(sample.text_list(kTokenTexts).size(), static_cast<size_t>(5 + number));
    }
  }
}

TEST(Trace, ReadsParts) {
  const TempFolder temp;
  write_whole(temp.path(), small_manifest(1, Storage::kF16));
  const StoredSample sample = TraceReader::open(temp.path()).read("sample-0");  // [2, 2, 2, 4, 5]
  const auto all = sample.floats(kReceived);
  const auto part = [&](size_t begin, size_t end) {
    return std::vector<float>(all.begin() + static_cast<std::ptrdiff_t>(begin),
                              all.begin() + static_cast<std::ptrdiff_t>(end));
  };
  EXPECT_EQ(sample.floats(kReceived, {0, 2}), all);
  EXPECT_EQ(sample.floats(kReceived, {1, 2}), part(80, 160));
  EXPECT_TRUE(sample.floats(kReceived, {1, 1}).empty());
  EXPECT_EQ(sample.floats_at(kReceived, {}), all);
  EXPECT_EQ(sample.floats_at(kReceived, {1, 0}), part(80, 120));
  EXPECT_EQ(sample.floats_at(kReceived, {0, 1, 1, 3}), part(75, 80));
  EXPECT_EQ(sample.floats_at(kReceived, {1, 1, 1, 3, 4}), part(159, 160));
  for (const Slice slice : {Slice{-1, 1}, Slice{1, 0}, Slice{0, 3}}) {
    EXPECT_TRUE(fails_with<UsageError>([&] { sample.floats(kReceived, slice); }, {"received", "[0, 2)"}));
  }
  for (const std::vector<std::int64_t>& at :
       {std::vector<std::int64_t>{2}, {-1}, {0, 2}, {0, 0, 0, 0, 0, 0}}) {
    EXPECT_TRUE(fails_with<UsageError>([&] { sample.floats_at(kReceived, at); }, {"[2, 2, 2, 4, 5]"}));
  }
}

TEST(Trace, ReadsPartsOfIntegers) {
  const TempFolder temp;
  write_whole(temp.path(), small_manifest(1));
  const StoredSample sample = TraceReader::open(temp.path()).read("sample-0");
  const auto sizes = sample.integers(kGroupSizes);  // I32 [2, 2]
  ASSERT_EQ(sizes.size(), 4u);
  using Integers = std::vector<std::int32_t>;
  EXPECT_EQ(sample.integers_at(kGroupSizes, {}), sizes);
  EXPECT_EQ(sample.integers_at(kGroupSizes, {0}), (Integers{sizes[0], sizes[1]}));
  EXPECT_EQ(sample.integers_at(kGroupSizes, {1}), (Integers{sizes[2], sizes[3]}));
  EXPECT_EQ(sample.integers_at(kGroupSizes, {1, 0}), Integers{sizes[2]});
  const auto regions = sample.integers(kRegionOfToken);  // U8 [5]
  for (size_t i = 0; i < regions.size(); ++i)
    EXPECT_EQ(sample.integers_at(kRegionOfToken, {static_cast<std::int64_t>(i)}), Integers{regions[i]});
  for (const std::vector<std::int64_t>& at : {std::vector<std::int64_t>{2}, {-1}, {0, 2}, {0, 0, 0}})
    EXPECT_TRUE(
        fails_with<UsageError>([&] { sample.integers_at(kGroupSizes, at); }, {"group_sizes", "[2, 2]"}));
  EXPECT_TRUE(
      fails_with<InputError>([&] { sample.integers_at(kReceived, {0}); }, {"received", "I32 or U8", "F32"}));
}

TEST(Trace, SaysWhatAnArrayIsNot) {
  const TempFolder temp;
  write_whole(temp.path(), small_manifest(1));
  const StoredSample sample = TraceReader::open(temp.path()).read("sample-0");
  const auto refused = [&](const std::function<void()>& action, std::initializer_list<std::string> parts) {
    return fails_with<InputError>(action, parts);
  };
  EXPECT_TRUE(refused([&] { sample.floats(kEntropy); }, {"sample-0.safetensors: entropy", "not observed"}));
  EXPECT_TRUE(refused([&] { sample.floats(kTokens); }, {"tokens", "F32 or F16", "I32"}));
  EXPECT_TRUE(refused([&] { sample.integers(kReceived); }, {"received", "I32 or U8", "F32"}));
  EXPECT_TRUE(refused([&] { sample.text("none"); }, {"none", "a text"}));
  EXPECT_TRUE(refused([&] { sample.integer_text(kQuestion); }, {"question", "an integer"}));
  EXPECT_TRUE(refused([&] { sample.text_list(kPromptLength); }, {"prompt_length", "a list of texts"}));
}

TEST(Trace, TwoRunsGiveTheSameBytes) {
  const TempFolder first, second;
  write_whole(first.path(), small_manifest(3));
  write_whole(second.path(), small_manifest(3));
  EXPECT_TRUE(same_files(snapshot(first.path()), snapshot(second.path())));
  EXPECT_EQ(snapshot(first.path()).size(), 4u);
}

TEST(Trace, IsWhatTheCommittedOneIs) {
  const auto data = std::filesystem::path(BUOY_TEST_DATA) / "trace";
  const TempFolder temp;
  write_whole(temp.path() / "small", small_manifest(2));
  write_whole(temp.path() / "half", small_manifest(1, Storage::kF16));
  {
    auto writer = TraceWriter::create(temp.path() / "unfinished", small_manifest(3));
    writer.write(small_sample(1));
    writer.write_failure("sample-0", "out of memory");
  }
  if (std::getenv("BUOY_RENEW_TRACES") != nullptr) {  // a deliberate change of the format
    std::filesystem::copy(
        temp.path(), data,
        std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing);
  }
  for (const char* name : {"small", "half", "unfinished"}) {
    EXPECT_TRUE(same_files(snapshot(temp.path() / name), snapshot(data / name))) << name;
  }
}

// Manifests had no sum of their own before 2026-11-17.
TEST(Trace, ReadsWhatTheFirstWritersWrote) {
  const auto reader =
      TraceReader::open(std::filesystem::path(BUOY_TEST_DATA) / "trace" / "small_without_sum");
  EXPECT_TRUE(reader.complete());
  EXPECT_EQ(reader.verify(), std::vector<std::string>{});
  EXPECT_EQ(reader.read("sample-1").integers(kTokens).at(1), 2);
}

// Version 3: a level below full.
TEST(Trace, ReadsWhatTheFirstWritersOfCompactTracesWrote) {
  const auto reader = TraceReader::open(std::filesystem::path(BUOY_TEST_DATA) / "trace" / "compact");
  EXPECT_TRUE(reader.complete());
  EXPECT_EQ(reader.verify(), std::vector<std::string>{});
  EXPECT_EQ(reader.manifest().level, Level::kCompact);
  const auto sample = reader.read("prompt");
  EXPECT_EQ(sample.shape(kHeadCodes), (std::vector<std::int64_t>{5, 2, 4, 12}));
  EXPECT_EQ(sample.shape(kRowScales), (std::vector<std::int64_t>{5, 2, 4, 2}));
  EXPECT_EQ(sample.dtype(kMeanCodes), "U8");
  EXPECT_TRUE(sample.has(state_name("drift")));
}

// Version 4: a model that decodes blocks of 4, behind a prompt of 6.
TEST(Trace, ReadsWhatTheFirstWritersOfBlocksWrote) {
  const auto reader = TraceReader::open(std::filesystem::path(BUOY_TEST_DATA) / "trace" / "blocks");
  EXPECT_TRUE(reader.complete());
  EXPECT_EQ(reader.verify(), std::vector<std::string>{});
  EXPECT_TRUE(reader.manifest().blocks);
  EXPECT_EQ(reader.manifest().level, Level::kFull);
  const auto sample = reader.read("prompt");
  EXPECT_EQ(sample.text(kAttention), kBlocksAttention);
  EXPECT_EQ(sample.integer_text(kBlockLength), 4);
  // The prompt's first block, its second with two masks, stored; the third, not stored; the final row.
  EXPECT_EQ(sample.integers(kStepKinds), (std::vector<std::int32_t>{1, 0, 0, 2, 0, 0, 0, 0, 3}));
  EXPECT_EQ(sample.integers(kRowsRun),
            (std::vector<std::int32_t>{0, 4, 4, 8, 4, 8, 4, 8, 8, 12, 8, 12, 8, 12, 8, 12, 0, 12}));
}

TEST(Trace, KeepsTheOrderOfThePlanNotOfTheWork) {
  const TempFolder temp;
  auto writer = TraceWriter::create(temp.path(), small_manifest(3));
  for (const int number : {2, 0, 1}) writer.write(small_sample(number));
  writer.finish();
  std::vector<std::string> ids;
  const TraceReader reader = TraceReader::open(temp.path());
  for (const auto& entry : reader.samples()) ids.push_back(entry.id);
  EXPECT_EQ(ids, small_manifest(3).sample_ids);
}

TEST(Trace, RemembersFailures) {
  const TempFolder temp;
  auto writer = TraceWriter::create(temp.path(), small_manifest(2));
  writer.write(small_sample(0));
  writer.write_failure("sample-1", "prompt of 9000 tokens \xFF");
  writer.finish();
  const TraceReader reader = TraceReader::open(temp.path());
  EXPECT_TRUE(reader.complete());
  EXPECT_EQ(reader.samples().at(1).status, Status::kFailed);
  EXPECT_EQ(reader.samples().at(1).error, "prompt of 9000 tokens \xEF\xBF\xBD");
  EXPECT_TRUE(reader.verify().empty());
  EXPECT_TRUE(
      fails_with<InputError>([&] { reader.read("sample-1"); }, {"sample-1", "failed", "9000 tokens"}));
}

TEST(Trace, MayHoldNothing) {
  const TempFolder temp;
  write_whole(temp.path(), small_manifest(0));
  EXPECT_TRUE(TraceReader::open(temp.path()).complete());
  EXPECT_TRUE(TraceReader::open(temp.path()).samples().empty());
}

}  // namespace
}  // namespace buoy::trace
