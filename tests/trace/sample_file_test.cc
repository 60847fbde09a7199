// Samples written while their values come: the same bytes as at once, whatever the order and the threads.

#include "buoy/trace/sample_file.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "buoy/base/container/safetensors.h"
#include "buoy/base/tree_sha256.h"
#include "buoy/trace/reader.h"
#include "buoy/trace/schema.h"
#include "buoy/trace/writer.h"
#include "support/fails_with.h"
#include "support/temp_folder.h"
#include "trace/small_trace.h"
#include "trace/streamed_sample.h"

namespace buoy::trace {
namespace {

namespace fs = std::filesystem;
using testing::cells_of;
using testing::fails_with;
using testing::put;
using testing::slurp;
using testing::small_arrays;
using testing::small_manifest;
using testing::stacked_sample;
using testing::streamed_plan;
using testing::TempFolder;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

// A folder of a trace without the trace.
class StreamedSample : public ::testing::Test {
 protected:
  StreamedSample() { fs::create_directory(temp_.path() / "samples"); }

  SamplePlace place(Storage storage) const { return {temp_.path(), storage, &model_}; }
  fs::path file(const std::string& id = "sample-0") const { return temp_.path() / sample_file(id); }
  size_t files() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(temp_.path() / "samples"), {}));
  }

  const TempFolder temp_;
  const ModelCard model_ = small_manifest(1).model;
};

TEST_F(StreamedSample, HasTheSameBytesInAnyOrderWithAnyThreads) {
  const Sample sample = stacked_sample("sample-0", 70'001);
  for (const Storage storage : {Storage::kF32, Storage::kF16}) {
    const std::string expected = format_sample(sample, storage);
    ASSERT_GT(expected.size(), 3 * kTreePieceBytes);
    for (const int threads : {1, 2, 16}) {
      auto cells = cells_of(sample);
      std::shuffle(cells.begin(), cells.end(), std::mt19937(static_cast<unsigned>(threads)));
      ThreadPool pool(threads);
      SampleFile stream(place(storage), streamed_plan(sample, storage));
      pool.run(static_cast<std::int64_t>(cells.size()),
               [&](std::int64_t number, int) { put(stream, cells[static_cast<size_t>(number)]); });
      EXPECT_FALSE(fs::exists(file())) << "it has its name when it is whole";
      const SampleEntry entry = stream.finish(sample.metadata, small_arrays(sample), &pool);
      EXPECT_TRUE(slurp(file()) == expected) << threads << " threads";
      EXPECT_EQ(entry.id, "sample-0");
      EXPECT_EQ(entry.file, "samples/sample-0.safetensors");
      EXPECT_EQ(entry.bytes, expected.size());
      EXPECT_EQ(entry.tree_sha256, tree_sha256_hex(bytes_of(expected)));
      EXPECT_EQ(entry.checksum, "");
      EXPECT_EQ(files(), 1u);
      fs::remove(file());
    }
  }
}

// The data as version 1 had them: only the header's room and version differ.
TEST_F(StreamedSample, HasTheDataOfVersion1) {
  const auto old = fs::path(BUOY_TEST_DATA) / "trace/small_without_sum/samples/sample-1.safetensors";
  const std::string before = slurp(old), now = format_sample(testing::small_sample(1), Storage::kF32);
  const auto data = [](const std::string& file) {
    return file.substr(8 + safetensors_header(bytes_of(file), "file").size());
  };
  EXPECT_EQ(data(now), data(before));
  const auto tensors = parse_safetensors(bytes_of(now), "now").tensors;
  const auto old_tensors = parse_safetensors(bytes_of(before), "before").tensors;
  ASSERT_EQ(tensors.size(), old_tensors.size());
  for (const auto& [name, entry] : old_tensors) {
    EXPECT_EQ(tensors.at(name).dtype, entry.dtype);
    EXPECT_EQ(tensors.at(name).shape, entry.shape);
  }
}

TEST_F(StreamedSample, DataBeginAtTheirAlignment) {
  EXPECT_EQ(data_alignment(0), 8u);
  EXPECT_EQ(data_alignment(1023), 8u);
  EXPECT_EQ(data_alignment(1024), 16u);
  EXPECT_EQ(data_alignment((1 << 26) - 1), 1u << 19);
  EXPECT_EQ(data_alignment(1 << 26), 1u << 20);
  EXPECT_EQ(data_alignment(std::uint64_t{1} << 40), 1u << 20);
  for (const std::int64_t tokens : {5, 1000, 70'000}) {
    const std::string bytes = format_sample(stacked_sample("a", tokens), Storage::kF16);
    const auto header = safetensors_header(bytes_of(bytes), "bytes");
    const std::uint64_t begin = 8 + header.size(), alignment = data_alignment(bytes.size() - begin);
    EXPECT_EQ(begin % alignment, 0u);
    EXPECT_LT(header.size() - header.find_last_not_of(' ') - 1, alignment) << "no more room than that";
  }
}

// States of analyses have a size when the sample is over.
TEST_F(StreamedSample, BytesThatAreAppendedComeBehindAllOthers) {
  for (const size_t size : {size_t{0}, size_t{5}, size_t{3} << 20}) {
    Sample sample = stacked_sample("sample-0", 70'001);
    SampleFile stream(place(Storage::kF16), streamed_plan(sample, Storage::kF16));
    for (const auto& cell : cells_of(sample)) put(stream, cell);
    const auto given = small_arrays(sample);
    for (const char* name : {"x_late", "x_later"}) {
      std::vector<std::uint8_t> bytes(size);
      for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(i * 31);
      sample.arrays.push_back(byte_array(name, {static_cast<std::int64_t>(size)}, bytes));
      stream.append(std::span(sample.arrays).last(1));
    }
    const std::string expected = format_sample(sample, Storage::kF16);
    const SampleEntry entry = stream.finish(sample.metadata, given);
    EXPECT_TRUE(slurp(file()) == expected) << size;
    EXPECT_EQ(entry.tree_sha256, tree_sha256_hex(bytes_of(expected)));
    fs::remove(file());
  }
  SampleFile stream(place(Storage::kF32), streamed_plan(stacked_sample("a", 5), Storage::kF32));
  EXPECT_TRUE(fails_with<UsageError>(
      [&] { stream.append(std::vector{float_array("x_late", {1}, std::vector{1.0F})}); },
      {"sample a: x_late", "U8 to append", "F32"}));
}

// Texts that come in the end move the data: up, down and not at all.
TEST_F(StreamedSample, AHeaderThatTurnsOutLongerOrShorterGivesTheSameBytes) {
  Sample sample = stacked_sample("sample-0", 20'000);  // alignment 32 KiB
  const size_t alignment = data_alignment(format_sample(sample, Storage::kF16).size());
  for (const size_t late : {size_t{0}, size_t{10}, alignment, 5 * alignment}) {
    for (const size_t early : {size_t{0}, 3 * alignment}) {
      sample.metadata["answer_text"] = std::string(late, 'x');
      sample.metadata["prompt_text"] = "final";
      SamplePlan plan = streamed_plan(sample, Storage::kF16);
      plan.texts["prompt_text"] = std::string(early, 'y');
      plan.texts["token_texts"] = sample.metadata["token_texts"];
      SampleFile stream(place(Storage::kF16), plan);
      for (const auto& cell : cells_of(sample)) put(stream, cell);
      const SampleEntry entry = stream.finish(sample.metadata, small_arrays(sample));
      const std::string expected = format_sample(sample, Storage::kF16);
      EXPECT_TRUE(slurp(file()) == expected) << early << " " << late;
      EXPECT_EQ(entry.bytes, expected.size());
      EXPECT_EQ(entry.tree_sha256, tree_sha256_hex(bytes_of(expected)));
    }
  }
}

TEST_F(StreamedSample, SaysWhichArraysDoNotFitHalfPrecisionAndCanKeepThem) {
  Sample sample = stacked_sample("sample-0", 500);
  const auto set = [&](std::string_view name, size_t at, float value) {
    for (Array& array : sample.arrays) {
      if (array.name == name) std::memcpy(array.bytes.data() + 4 * at, &value, 4);
    }
  };
  set(kEntropy, 3 * 500 + 7, 65505);
  set("keys_step1_layer1", 9, -1e6f);
  set("keys_step1_layer0", 9, std::numeric_limits<float>::infinity());  // F16 has that
  SamplePlan plan = streamed_plan(sample, Storage::kF16);
  EXPECT_EQ(plan.keep_f32, (std::set<std::string>{"entropy", "keys_step1_layer1"}));
  plan.keep_f32.clear();
  {
    SampleFile stream(place(Storage::kF16), plan);
    EXPECT_TRUE(stream.exceeding_f16().empty());
    for (const auto& cell : cells_of(sample)) put(stream, cell);
    EXPECT_EQ(stream.exceeding_f16(), (std::set<std::string>{"entropy", "keys_step1_layer1"}));
    try {
      stream.finish(sample.metadata, small_arrays(sample));
      FAIL() << "65505 is not 65504";
    } catch (const ExceedsF16& error) {
      EXPECT_EQ(error.arrays(), (std::set<std::string>{"entropy", "keys_step1_layer1"}));
      EXPECT_TRUE(
          testing::holds_in_order(error.what(), {"sample-0", "entropy", "keys_step1_layer1", "65504"}));
      plan.keep_f32 = error.arrays();
    }
  }
  EXPECT_EQ(files(), 0u);
  SampleFile stream(place(Storage::kF16), plan);
  for (const auto& cell : cells_of(sample)) put(stream, cell);
  stream.finish(sample.metadata, small_arrays(sample));
  EXPECT_TRUE(slurp(file()) == format_sample(sample, Storage::kF16));
  const std::string bytes = slurp(file());
  EXPECT_EQ(parse_safetensors(bytes_of(bytes), "file").tensors.at("entropy").dtype, "F32");
  EXPECT_EQ(parse_safetensors(bytes_of(bytes), "file").tensors.at("received").dtype, "F16");
}

TEST_F(StreamedSample, TakesEveryCellOnce) {
  const Sample sample = stacked_sample("sample-0", 40);
  const auto refused = [&](const std::function<void(SampleFile&)>& action,
                           std::initializer_list<std::string> parts) {
    SampleFile stream(place(Storage::kF32), streamed_plan(sample, Storage::kF32));
    return fails_with<UsageError>([&] { action(stream); }, parts);
  };
  const auto cells = cells_of(sample);
  const auto finish_without = [&](size_t left_out) {
    return [&, left_out](SampleFile& stream) {
      for (size_t i = 0; i < cells.size(); ++i) {
        if (i != left_out) put(stream, cells[i]);
      }
      stream.finish(sample.metadata, small_arrays(sample));
    };
  };
  for (size_t i = 0; i < cells.size(); ++i) {
    EXPECT_TRUE(
        refused(finish_without(i), {"sample sample-0: " + cells[i].array->name, "all", "cells", "found"}));
  }
  EXPECT_TRUE(refused(
      [&](SampleFile& stream) {
        put(stream, cells[5]);
        put(stream, cells[5]);
      },
      {cells[5].array->name, "each cell once", "again"}));
  const std::vector<float> values(4 * 40);
  const std::vector<std::int32_t> whole(4 * 40);
  EXPECT_TRUE(refused([&](SampleFile& s) { s.put(kEntropy, 6, values); }, {"entropy", "0 to 5", "cell 6"}));
  EXPECT_TRUE(refused([&](SampleFile& s) { s.put(kEntropy, -1, values); }, {"entropy", "cell -1"}));
  EXPECT_TRUE(refused([&](SampleFile& s) { s.put(kEntropy, 0, std::span(values).first(9)); },
                      {"entropy", "160 values", "9"}));
  EXPECT_TRUE(refused([&](SampleFile& s) { s.put(kMass, 0, values); }, {"mass", "plan", "another name"}));
  EXPECT_TRUE(
      refused([&](SampleFile& s) { s.put(kEntropy, 0, whole); }, {"entropy", "F32 as planned", "I32"}));
  EXPECT_TRUE(refused(
      [&](SampleFile& s) {
        const Array wrong = integer_array(kTokens, {2}, std::vector<std::int32_t>{1, 2});
        s.finish({}, std::span(&wrong, 1));
      },
      {"tokens", "shape [40]", "shape [2]"}));
  EXPECT_EQ(files(), 0u);
}

TEST_F(StreamedSample, IsCheckedBeforeAndAfter) {
  const Sample sample = stacked_sample("sample-0", 40);
  const auto refused = [&](const std::function<void(SamplePlan&)>& change,
                           std::initializer_list<std::string> parts) {
    SamplePlan plan = streamed_plan(sample, Storage::kF32);
    change(plan);
    return fails_with<UsageError>([&] { SampleFile(place(Storage::kF32), plan); }, parts);
  };
  EXPECT_TRUE(
      refused([](SamplePlan& p) { p.arrays[7].name = "entropie"; }, {"sample-0: entropie", "unknown"}));
  EXPECT_TRUE(refused([](SamplePlan& p) { p.arrays[7].shape[3] = 41; }, {"sample-0", "T = 40"}));
  EXPECT_TRUE(refused([](SamplePlan& p) { p.arrays[7].cells = 7; }, {"entropy", "divide", "7 cells"}));
  EXPECT_TRUE(refused([](SamplePlan& p) { p.arrays[7].cells = 0; }, {"entropy", "divide", "0 cells"}));
  EXPECT_TRUE(refused([](SamplePlan& p) { p.arrays.push_back(p.arrays[0]); }, {"region_of_token", "twice"}));
  EXPECT_TRUE(refused([](SamplePlan& p) { p.texts["version"] = "2"; }, {"version left to the writer"}));
  EXPECT_TRUE(refused([](SamplePlan& p) { p.id = "../x"; }, {"sample id", "../x"}));

  Sample wrong = sample;  // top_keys are indices, and come cell by cell
  const auto keys = std::find_if(wrong.arrays.begin(), wrong.arrays.end(),
                                 [](const Array& array) { return array.name == kTopKeys; });
  const std::int32_t beyond = 40;
  std::memcpy(keys->bytes.data() + 4 * 17, &beyond, 4);
  SampleFile stream(place(Storage::kF32), streamed_plan(wrong, Storage::kF32));
  for (const auto& cell : cells_of(wrong)) put(stream, cell);
  EXPECT_TRUE(fails_with<UsageError>([&] { stream.finish(wrong.metadata, small_arrays(wrong)); },
                                     {"sample-0: top_keys", "from -1 to 39", "40 at 17"}));
}

// A limit on the size of files stands in for a full disk; room is taken before anything is computed.
TEST_F(StreamedSample, ThatDoesNotFitOnTheDiskSaysSoAtOnceAndLeavesNothing) {
  const Sample sample = stacked_sample("sample-0", 1000);
  const auto old_handler = ::signal(SIGXFSZ, SIG_IGN);
  rlimit old_limit{};
  ::getrlimit(RLIMIT_FSIZE, &old_limit);
  const auto limit = [&](rlim_t bytes) {
    const rlimit small{bytes, old_limit.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
  };
  limit(10'000);
  const auto at_once = fails_with<IoError>(
      [&] {
        SampleFile stream(place(Storage::kF32), streamed_plan(sample, Storage::kF32));
        put(stream, cells_of(sample).front());
      },
      {file().string(), "cannot write", "expected room for", "bytes", "File too large"});
  ::setrlimit(RLIMIT_FSIZE, &old_limit);
  EXPECT_TRUE(at_once);
  EXPECT_EQ(files(), 0u);
  {
    // File systems that cannot take room in advance fail later; those that can do not fail any more.
    SampleFile stream(place(Storage::kF32), streamed_plan(sample, Storage::kF32));
    const auto cells = cells_of(sample);
    put(stream, cells.front());
    limit(100'000);
    size_t done = 1;
    std::string later;
    try {
      for (; done < cells.size(); ++done) put(stream, cells[done]);
    } catch (const IoError& error) {
      later = error.what();
    }
    ::setrlimit(RLIMIT_FSIZE, &old_limit);
    if (done == cells.size()) {
      EXPECT_NO_THROW(stream.finish(sample.metadata, small_arrays(sample)));
      ::signal(SIGXFSZ, old_handler);
      return;
    }
    for (const auto* part : {"cannot write", "bytes at", "found", "File too large"})
      EXPECT_NE(later.find(part), std::string::npos) << later;
    EXPECT_NE(later.find(file().string()), std::string::npos) << later;
    EXPECT_TRUE(fails_with<UsageError>([&] { stream.finish(sample.metadata, small_arrays(sample)); },
                                       {"all", "cells"}));
  }
  ::signal(SIGXFSZ, old_handler);
  EXPECT_EQ(files(), 0u);
}

TEST_F(StreamedSample, GoesIntoATraceBesideOthers) {
  const fs::path folder = temp_.path() / "trace";
  Manifest manifest = small_manifest(2, Storage::kF16);
  const Sample large = stacked_sample("sample-1", 30'000);
  auto writer = TraceWriter::create(folder, manifest);
  writer.write(testing::small_sample(0));
  auto stream = writer.begin_sample(streamed_plan(large, Storage::kF16));
  for (const auto& cell : cells_of(large)) put(*stream, cell);
  EXPECT_TRUE(TraceReader::open(folder).verify().empty()) << "a run under way";
  writer.commit(stream->finish(large.metadata, small_arrays(large)));
  EXPECT_TRUE(writer.has("sample-1"));
  EXPECT_THROW(writer.begin_sample(streamed_plan(large, Storage::kF16)), UsageError);
  EXPECT_THROW(writer.begin_sample(plan_of(testing::small_sample(7), Storage::kF16)), UsageError);
  writer.finish();
  for (const int threads : {1, 3}) {
    const auto reader = TraceReader::open(folder, Integrity::kChecksum, threads);
    EXPECT_EQ(reader.verify(), std::vector<std::string>{});
    const auto sample = reader.read("sample-1");
    EXPECT_EQ(sample.integers(kTopKeys).size(), 3u * 2 * 2 * 4 * 3);
    EXPECT_NEAR(sample.floats_at(kEntropy, {2, 1}).at(5), 3 * std::fabs(std::sin(5 * 4 * 30'000 + 5 + 3.0f)),
                0.01);
  }
  // A change in any piece is found.
  std::string bytes = slurp(folder / sample_file("sample-1"));
  for (const size_t at : {size_t{100}, kTreePieceBytes + 5, bytes.size() - 1}) {
    bytes[at] ^= 1;
    testing::spill(folder / sample_file("sample-1"), bytes);
    EXPECT_EQ(TraceReader::open(folder, Integrity::kChecksum, 2).verify().size(), 1u) << at;
    bytes[at] ^= 1;
  }
}

}  // namespace
}  // namespace buoy::trace
