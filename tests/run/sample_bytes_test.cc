// What a sample takes is known before it runs, for every level.
#include "buoy/run/sample_bytes.h"

#include <gtest/gtest.h>

#include "buoy/questions/data/item_reader.h"
#include "buoy/run/trace_request.h"
#include "buoy/trace/reader.h"
#include "run/runs.h"
#include "support/fails_with.h"
#include "support/temp_folder.h"

namespace buoy::run {
namespace {

class ExpectedBytes : public ::testing::TestWithParam<bool> {
 protected:
  ExpectedBytes() : model_(load_model(testing::pair_model(GetParam()).path)) {
    const auto data = testing::write_world(scratch_, {.count = 2, .passages = 3});
    request_.items = questions::read_items(data, {});
    request_.prompt_template = testing::pair_spec(data, {}).prompt_template;
    request_.observe = "all,predictions";
    request_.groups = "regions";
    request_.decode.max_new_tokens = 6;
  }

  testing::TempFolder scratch_;
  LoadedModel model_;
  TraceRequest request_;
};
INSTANTIATE_TEST_SUITE_P(Pair, ExpectedBytes, ::testing::Bool(),
                         [](const auto& p) { return p.param ? "diffusion" : "autoregressive"; });

TEST_P(ExpectedBytes, OfAFullSampleAreThoseOfItsFile) {
  for (const bool float16 : {false, true}) {
    request_.float16 = float16;
    request_.folder = scratch_ / (float16 ? "half" : "single");
    const auto run = make_trace_run(request_, model_);
    ThreadPool threads(2);
    RunBytes announced;
    run_trace({threads}, model_, run, {[&](const auto& bytes) { announced = bytes; }, [] {}});
    const auto reader = trace::TraceReader::open(request_.folder);
    for (std::size_t n = 0; n < request_.items.size(); ++n) {
      const auto expected = expected_bytes(model_.model.config(), request_, run.prompt(n), {});
      const auto written = static_cast<double>(reader.samples()[n].bytes);
      // An autoregressive model may end its answer early.
      if (GetParam()) {
        EXPECT_NEAR(static_cast<double>(expected.full), written, 0.005 * written);
      } else {
        EXPECT_GE(static_cast<double>(expected.full), 0.99 * written);
      }
    }
    EXPECT_EQ(announced.samples, 2u);
    EXPECT_EQ(announced.all(), 2 * announced.each.full);
  }
}

// Of states the sizes are guessed, rather too large.
TEST_P(ExpectedBytes, OfLesserLevelsAreAboutThoseOfTheirFiles) {
  request_.compact_samples = 1;
  for (const auto level : {trace::Level::kTables, trace::Level::kCompact}) {
    request_.keep = level;
    request_.folder = scratch_ / std::string(name_of(level));
    const auto run = make_trace_run(request_, model_);
    ThreadPool threads(2);
    RunBytes announced;
    run_trace({threads}, model_, run, {[&](const auto& bytes) { announced = bytes; }, [] {}});
    std::uint64_t written = 0;
    const auto reader = trace::TraceReader::open(request_.folder);
    for (const auto& entry : reader.samples()) written += entry.bytes;
    EXPECT_GE(static_cast<double>(announced.all()), 0.9 * static_cast<double>(written)) << name_of(level);
    EXPECT_LE(static_cast<double>(announced.all()), 1.6 * static_cast<double>(written)) << name_of(level);
  }
}

TEST_P(ExpectedBytes, ADiskThatIsTooSmallIsSaidBeforeTheRun) {
  RunBytes run{{.tables = 1, .compact = 1, .full = std::uint64_t{1} << 60, .chosen = 1}};
  run.samples = 4;
  EXPECT_TRUE(testing::fails_with<IoError>([&] { require_space(run, scratch_ / "out"); },
                                           {"out", "will write about", "as full", "are free", "`keep`"}));
  run.level = trace::Level::kTables;
  EXPECT_NO_THROW(require_space(run, scratch_ / "out"));
  const auto text = describe(run, std::uint64_t{1} << 30);
  EXPECT_NE(text.find("4 B in all as tables"), std::string::npos) << text;
  EXPECT_NE(text.find("as full 4"), std::string::npos) << text;
  EXPECT_NE(text.find("1.00 GiB free"), std::string::npos) << text;
  EXPECT_EQ(text.find("figures"), std::string::npos) << text;
  // What is written behind the samples counts as well.
  run.results = std::uint64_t{1} << 60;
  EXPECT_TRUE(testing::fails_with<IoError>([&] { require_space(run, scratch_ / "out"); },
                                           {"will write about", "as tables, with tables and figures"}));
  run.results = results_allowance(8);
  EXPECT_NO_THROW(require_space(run, scratch_ / "out"));
  EXPECT_NE(describe(run, 0).find("up to 32.00 MiB of tables and figures"), std::string::npos);
}

}  // namespace
}  // namespace buoy::run
