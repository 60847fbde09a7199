// A full trace kept as less is what a run with that level would have written.
#include "buoy/run/live/compact_trace.h"

#include <gtest/gtest.h>

#include "buoy/questions/data/item_reader.h"
#include "buoy/run/trace_request.h"
#include "buoy/trace/reader.h"
#include "buoy/trace/schema.h"
#include "run/runs.h"
#include "support/fails_with.h"
#include "support/temp_folder.h"

namespace buoy::run {
namespace {

using trace::Level;

const TraceRunProgress kQuiet{[](const auto&) {}, [] {}};

class CompactTrace : public ::testing::TestWithParam<bool> {
 protected:
  CompactTrace() : model_(load_model(testing::pair_model(GetParam()).path)) {
    const auto data = testing::write_world(scratch_, {.count = 3, .passages = 3});
    request_.items = questions::read_items(data, {});
    request_.prompt_template = testing::pair_spec(data, {}).prompt_template;
    request_.observe = "all,rows";
    request_.groups = "regions";
    request_.decode.max_new_tokens = 6;
    request_.compact_samples = 1;
    if (GetParam()) request_.decode.steps = 4;
  }

  // Of a run that keeps this.
  std::filesystem::path ran(Level level, const std::string& name) {
    request_.keep = level;
    request_.folder = scratch_ / name;
    ThreadPool threads(2);
    run_trace({threads}, model_, make_trace_run(request_, model_), kQuiet);
    return request_.folder;
  }
  std::filesystem::path compacted(const std::filesystem::path& full, Level level, const std::string& name,
                                  int threads = 2) {
    CompactRequest request;
    request.trace = full;
    request.out = scratch_ / name;
    request.keep = level;
    request.compact_samples = request_.compact_samples;
    ThreadPool pool(threads);
    const auto result = compact_trace(request, pool, kQuiet);
    EXPECT_EQ(result.samples, trace::TraceReader::open(full).samples().size() - result.failed);
    return request.out;
  }
  static testing::Files samples(const std::filesystem::path& folder) {
    return testing::files_of(folder / "samples");
  }

  testing::TempFolder scratch_;
  LoadedModel model_;
  TraceRequest request_;
};
INSTANTIATE_TEST_SUITE_P(Pair, CompactTrace, ::testing::Bool(),
                         [](const auto& p) { return p.param ? "diffusion" : "autoregressive"; });

TEST_P(CompactTrace, HasTheSamplesOfARunThatKeepsAsMuch) {
  for (const bool float16 : {false, true}) {
    request_.float16 = float16;
    const std::string name = float16 ? "half" : "single";
    const auto full = ran(Level::kFull, name);
    for (const auto level : {Level::kTables, Level::kCompact}) {
      const std::string other = name + std::string(name_of(level));
      const auto expected = samples(ran(level, other + "-live"));
      EXPECT_EQ(expected.size(), 3u);
      for (const int threads : {1, 5}) {
        const auto folder = compacted(full, level, other + std::to_string(threads), threads);
        EXPECT_TRUE(testing::same_files(samples(folder), expected)) << other;
        const auto reader = trace::TraceReader::open(folder);
        EXPECT_TRUE(reader.complete());
        EXPECT_EQ(reader.verify(), std::vector<std::string>{});
        EXPECT_EQ(reader.manifest().level, level);
        EXPECT_EQ(reader.manifest().analyses.names.size(), 8u);
      }
    }
  }
}

// Without rows a chosen sample has heads alone; what it was observed for says what analyses it keeps.
TEST_P(CompactTrace, KeepsWhatTheFullTraceHas) {
  request_.observe = "received";
  request_.groups = "state";
  const auto folder = compacted(ran(Level::kFull, "full"), Level::kCompact, "compact");
  const auto reader = trace::TraceReader::open(folder);
  const auto sample = reader.read(reader.samples()[0].id);
  EXPECT_TRUE(sample.has(trace::kHeadCodes));
  EXPECT_FALSE(sample.has(trace::kRowCodes));
  EXPECT_FALSE(reader.read(reader.samples()[1].id).has(trace::kHeadCodes)) << "one was chosen";
  EXPECT_TRUE(reader.manifest().analyses.has("floating"));
  EXPECT_FALSE(reader.manifest().analyses.has("qk"));
}

TEST_P(CompactTrace, FailedSamplesStayFailed) {
  auto& items = request_.items;
  for (int i = 0; i < 400; ++i) items[1].passages.front().text += " Shinia Subshaw wrote The Iron Bridge.";
  const auto live = ran(Level::kTables, "live");
  const auto folder = compacted(ran(Level::kFull, "full"), Level::kTables, "tables");
  EXPECT_TRUE(testing::same_files(samples(folder), samples(live)));
  const auto reader = trace::TraceReader::open(folder);
  EXPECT_EQ(reader.samples()[1].status, trace::Status::kFailed);
  EXPECT_EQ(reader.samples()[1].error, trace::TraceReader::open(live).samples()[1].error);
}

TEST_P(CompactTrace, OnlyAWholeFullTraceCanBeKeptAsLess) {
  const auto full = ran(Level::kFull, "full");
  const auto tables = compacted(full, Level::kTables, "tables");
  EXPECT_TRUE(testing::fails_with<InputError>([&] { compacted(tables, Level::kCompact, "again"); },
                                              {"manifest.json: level", "a full trace", "tables"}));
  EXPECT_TRUE(testing::fails_with<UsageError>([&] { compacted(full, Level::kFull, "again"); },
                                              {"`keep`", "tables or compact", "full"}));
  EXPECT_TRUE(testing::fails_with<Error>([&] { compacted(full, Level::kTables, "tables"); }, {"tables"}))
      << "a trace is there already";
  EXPECT_FALSE(std::filesystem::exists(scratch_ / "again"));
}

}  // namespace
}  // namespace buoy::run
