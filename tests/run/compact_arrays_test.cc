// What the level compact keeps: values within a step of quantisation, and not too many bytes.
#include "buoy/run/live/compact_arrays.h"
#include "buoy/analysis/sample/answer_span.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "buoy/analysis/sample/answer_span.h"
#include "buoy/analysis/sample/replay.h"
#include "buoy/analysis/sample/stored_rows.h"
#include "buoy/base/file/files.h"
#include "buoy/base/quantised_row.h"
#include "buoy/questions/data/item_reader.h"
#include "buoy/run/live/stored_frame.h"
#include "buoy/run/live/trace_sink.h"
#include "buoy/run/trace_request.h"
#include "buoy/trace/reader.h"
#include "buoy/trace/schema.h"
#include "run/runs.h"
#include "support/fails_with.h"
#include "support/temp_folder.h"

namespace buoy::run {
namespace {

class CompactPair : public ::testing::TestWithParam<bool> {
 protected:
  // A full trace of one question.
  void SetUp() override {
    const auto data = testing::write_world(scratch_, {.count = 1, .passages = 3});
    auto model = load_model(testing::pair_model(GetParam()).path);
    TraceRequest request;
    request.items = questions::read_items(data, {});
    request.prompt_template = testing::pair_spec(data, {}).prompt_template;
    request.observe = "received,rows";
    request.groups = "regions";
    request.decode.max_new_tokens = 6;
    if (GetParam()) request.decode.steps = 4;
    request.folder = scratch_ / "full";
    ThreadPool threads(2);
    run_trace({threads}, model, make_trace_run(request, model), {[](const auto&) {}, [] {}});
    reader_.emplace(trace::TraceReader::open(request.folder));
    manifest_ = reader_->manifest();
    manifest_.level = trace::Level::kCompact;
    full_.emplace(reader_->manifest(), reader_->read(reader_->samples()[0].id));
    std::filesystem::create_directories(scratch_ / "compact/samples");
  }

  // The same sample as compact keeps it.
  analysis::StoredSource compacted(bool chosen, trace::Storage storage = trace::Storage::kF32) {
    manifest_.storage = storage;
    const auto& facts = full_->sample();
    const CompactArrays arrays(facts, chosen);
    trace::SampleFile file({scratch_ / "compact", storage, &manifest_.model, manifest_.level},
                           sample_plan(facts, {manifest_.level, chosen}));
    ThreadPool threads(2);
    analysis::replay(*full_, {}, threads, {[&](const auto& layer) { arrays.take(layer, file); }, {}});
    const auto frame = stored_frame(full_->stored());
    const auto entry = file.finish(frame.metadata, frame.arrays);
    file_ = scratch_ / "compact" / entry.file;
    return open();
  }
  analysis::StoredSource open() {
    return {manifest_, trace::StoredSample(MappedFile(file_), file_.string(), manifest_)};
  }

  testing::TempFolder scratch_;
  std::optional<trace::TraceReader> reader_;
  std::optional<analysis::StoredSource> full_;
  trace::Manifest manifest_;
  std::filesystem::path file_;
};
INSTANTIATE_TEST_SUITE_P(Pair, CompactPair, ::testing::Bool(),
                         [](const auto& p) { return p.param ? "diffusion" : "autoregressive"; });

// Half a step from the value, or nothing where it is far below the largest of its row.
void expect_close(std::span<const double> found, std::span<const double> expected) {
  ASSERT_EQ(found.size(), expected.size());
  const double largest = *std::max_element(expected.begin(), expected.end());
  for (size_t j = 0; j < found.size(); ++j) {
    const double floor = kQuantisedFloor * largest;
    ASSERT_NEAR(found[j], expected[j], std::max(expected[j] * kMostQuantisedError, floor)) << j;
    if (expected[j] > 1.01 * floor) {
      ASSERT_GT(found[j], 0) << j;
    }
  }
}

TEST_P(CompactPair, ReceivedAttentionIsWithinAStepOfTheFullTrace) {
  const auto compact = compacted(true);
  const analysis::StoredRows from_full(*full_), from_compact(compact);
  ASSERT_TRUE(from_compact.has_heads());
  const auto& sample = full_->sample();
  const auto tokens = static_cast<size_t>(sample.tokens);
  for (std::int64_t s = 0; s < sample.forward_count(); ++s) {
    for (std::int64_t l = 0; l < sample.layer_count(); ++l) {
      const auto expected = from_full.at(s, l), found = from_compact.at(s, l);
      ASSERT_EQ(found.size(), tokens * static_cast<size_t>(1 + sample.heads));
      ASSERT_EQ(found.size(), expected.size());
      for (size_t row = 0; row < found.size() / tokens; ++row)
        expect_close(std::span(found).subspan(row * tokens, tokens),
                     std::span(expected).subspan(row * tokens, tokens));
    }
  }
}

TEST_P(CompactPair, RowsOfTheAnswerAreTheMeanOverHeads) {
  const auto compact = compacted(true);
  const analysis::StoredRows from_full(*full_), from_compact(compact);
  ASSERT_TRUE(from_full.has_queries() && from_compact.has_queries());
  const auto shape = full_->stored().shape(trace::kRowWeights);  // [S, L, R, H, T]
  const auto rows = static_cast<size_t>(shape[2]), heads = static_cast<size_t>(shape[3]);
  const auto tokens = static_cast<size_t>(shape[4]);
  for (std::int64_t s = 0; s < shape[0]; ++s) {
    for (std::int64_t l = 0; l < shape[1]; ++l) {
      const auto weights = full_->stored().floats_at(trace::kRowWeights, {s, l});
      const auto found =
          analysis::read_quantised(compact.stored(), trace::kRowCodes, trace::kRowScales, {s, l});
      for (size_t r = 0; r < rows; ++r) {
        std::vector<double> mean(tokens, 0.0);
        for (size_t h = 0; h < heads; ++h) {
          for (size_t j = 0; j < tokens; ++j)
            mean[j] += weights[(r * heads + h) * tokens + j] / static_cast<double>(heads);
        }
        expect_close(std::span(found).subspan(r * tokens, tokens), mean);
        const auto exact = from_full.queries_at(s, l);
        ASSERT_EQ(exact.size(), rows * tokens);
        for (size_t j = 0; j < tokens; ++j) ASSERT_NEAR(exact[r * tokens + j], mean[j], 1e-9);
        EXPECT_EQ(from_compact.queries_at(s, l), found);
      }
    }
  }
}

TEST_P(CompactPair, StrongestKeysAndMassesAreThoseOfTheFullTrace) {
  const auto compact = compacted(false);
  EXPECT_FALSE(compact.stored().has(trace::kHeadCodes)) << "of chosen samples alone";
  EXPECT_FALSE(compact.stored().has(trace::kRowCodes));
  EXPECT_FALSE(compact.stored().has(trace::kReceived));
  EXPECT_FALSE(analysis::StoredRows(compact).has_heads());
  EXPECT_FALSE(analysis::StoredRows(compact).has_queries());
  const auto& sample = full_->sample();
  const auto regions = std::ssize(sample.region_names);
  for (std::int64_t s = 0; s < sample.forward_count(); ++s) {
    const auto region_of_token = analysis::region_of_token_at(sample, analysis::answer_end_at(sample, s));
    for (std::int64_t l = 0; l < sample.layer_count(); ++l) {
      const auto received = full_->received(s, l);
      const auto keys = compact.stored().integers_at(trace::kMeanTopKeys, {s, l});
      const auto weights = compact.stored().floats_at(trace::kMeanTopWeights, {s, l});
      auto sorted = received.mean;
      std::sort(sorted.rbegin(), sorted.rend());
      for (size_t k = 0; k < keys.size(); ++k) {
        EXPECT_FLOAT_EQ(weights[k], static_cast<float>(sorted[k]));
        EXPECT_EQ(received.mean[static_cast<size_t>(keys[k])], sorted[k]);
      }
      const auto sums = full_->stored().floats_at(trace::kReceived, {s, l});  // [G, H, T]
      const auto masses = compact.stored().floats_at(trace::kMeanMass, {s, l});
      for (std::int64_t g = 0; g < std::ssize(sample.group_names); ++g) {
        for (std::int64_t c = 0; c < regions; ++c) {
          double expected = 0;
          for (std::int64_t h = 0; h < sample.heads; ++h) {
            for (std::int64_t j = 0; j < sample.tokens; ++j) {
              if (region_of_token[static_cast<size_t>(j)] == c)
                expected += sums[static_cast<size_t>((g * sample.heads + h) * sample.tokens + j)];
            }
          }
          EXPECT_NEAR(masses[static_cast<size_t>(g * regions + c)],
                      expected / static_cast<double>(sample.heads), 1e-5);
        }
      }
    }
  }
}

TEST_P(CompactPair, ScalesStayPreciseInHalfTheSpace) {
  const auto compact = compacted(true, trace::Storage::kF16);
  for (const auto name : {trace::kMeanScales, trace::kHeadScales, trace::kRowScales})
    EXPECT_EQ(compact.stored().dtype(name), "F32");
  EXPECT_EQ(compact.stored().dtype(trace::kMeanMass), "F16");
}

TEST_P(CompactPair, ScalesThatNoRowHasAreRefusedByName) {
  const auto good = compacted(true);
  const auto at = good.stored().floats_at(trace::kMeanScales, {0, 0});
  const auto number = [](float value) {
    return std::string(reinterpret_cast<const char*>(&value), sizeof(value));
  };
  const std::string scale = number(at[0]) + number(at[1]), bytes = read_file(file_);
  const auto place = bytes.find(scale);
  ASSERT_NE(place, std::string::npos);
  const auto replaced = [&](float low, float high) {
    auto changed = bytes;
    changed.replace(place, scale.size(), number(low) + number(high));
    write_file_atomically(file_, changed);
    const auto source = open();
    return testing::fails_with<InputError>([&] { analysis::StoredRows(source).at(0, 0); },
                                           {"mean_scales", "expected", "found"});
  };
  EXPECT_TRUE(replaced(at[1], at[0]));
  EXPECT_TRUE(replaced(0, at[1]));
  EXPECT_TRUE(replaced(-at[0], at[1]));
  EXPECT_TRUE(replaced(at[0], 2));
  EXPECT_TRUE(replaced(std::nanf(""), at[1]));
}

// LLaDA-8B: 32 steps and the final row, 1,000 + 32 tokens, ten passages in regions, with states of 2 MB.
TEST(CompactBytes, AtTheSizeOfAnEightBillionModel) {
  constexpr std::int64_t S = 33, L = 32, H = 32, T = 1032, G = 13, R = 32;
  analysis::SampleFacts facts;
  facts.heads = H, facts.tokens = T, facts.last_forward = S - 1;
  facts.layers.resize(L);
  facts.group_names.resize(G), facts.region_names.resize(G), facts.row_positions.resize(R);
  facts.arrays = {{std::string(trace::kReceived), {S, L, G, H, T}},
                  {std::string(trace::kRowWeights), {S, L, R, H, T}}};
  const auto bytes = [&](bool chosen) {
    const CompactArrays arrays(facts, chosen);
    return trace::data_bytes(
        trace::place_arrays(arrays.arrays(), trace::Storage::kF32, CompactArrays::kept_as_f32()));
  };
  constexpr std::uint64_t kMega = 1'000'000, kStates = 2 * kMega;
  EXPECT_LE(bytes(true) + kStates, 80 * kMega);
  EXPECT_LE((4 * bytes(true) + 96 * bytes(false)) / 100 + kStates, 20 * kMega);
  EXPECT_LE(bytes(false), 3 * kMega);
}

}  // namespace
}  // namespace buoy::run
