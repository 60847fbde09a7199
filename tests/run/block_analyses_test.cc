// Analyses, levels and changes of models that decode blocks: steps are the forwards that denoise, over the
// keys that there are.

#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "buoy/analysis/core/run.h"
#include "buoy/analysis/sample/stored_source.h"
#include "buoy/base/error.h"
#include "buoy/decode/drive.h"
#include "buoy/decode/stream.h"
#include "buoy/run/attention_features.h"
#include "buoy/run/change/column_change.h"
#include "buoy/run/live/compact_trace.h"
#include "buoy/run/live/watched_questions.h"
#include "buoy/run/trace_request.h"
#include "buoy/trace/reader.h"
#include "buoy/trace/schema.h"
#include "run/block_trace_case.h"
#include "run/runs.h"
#include "support/fails_with.h"

namespace buoy::run {
namespace {

using testing::fails_with;
using testing::kinds_of;
using trace::StepKind;
using Ids = std::vector<std::int32_t>;

class BlockAnalyses : public testing::BlockTraceCase {};

// As the blocks were denoised: of a model that stores finished ones causally, the grid of its trace is
// another.
TEST_P(BlockAnalyses, SaysHowBlocksWereDenoised) {
  const auto sample = traced();
  const bool causal = model_.model.config().family == Family::kNemotron;
  EXPECT_EQ(sample.has_text(trace::kDenoisedLength), causal);
  EXPECT_EQ(sample.integer_text(trace::kBlockLength) == 1, causal);
  const std::int64_t length = sample.integer_text(causal ? trace::kDenoisedLength : trace::kBlockLength),
                     origin = sample.integer_text(causal ? trace::kDenoisedOrigin : trace::kGridOrigin);
  const auto kinds = kinds_of(sample);
  const Ids ran = sample.integers(trace::kRowsRun);
  for (size_t s = 0; s < kinds.size(); ++s) {
    if (kinds[s] != StepKind::kDenoise) continue;
    EXPECT_EQ((ran[2 * s] - origin) % length, 0) << s;
    EXPECT_LE(ran[2 * s + 1] - ran[2 * s], length) << s;
  }
}

// Steps of analyses are the forwards that denoise: what each saw is what was measured of it.
TEST_P(BlockAnalyses, AnalysesTakeTheStepsThatDenoise) {
  const auto stored = traced();
  const auto kinds = kinds_of(stored);
  const auto reader = trace::TraceReader::open(request_.folder);
  const analysis::StoredSource source(reader.manifest(), reader.read("only"));
  const auto& sample = source.sample();
  std::vector<std::int32_t> denoising;
  for (size_t s = 0; s < kinds.size(); ++s) {
    if (kinds[s] == StepKind::kDenoise) denoising.push_back(static_cast<std::int32_t>(s));
  }
  EXPECT_EQ(sample.steps, denoising);
  EXPECT_EQ(sample.forward_count(), sample.step_count() + 1);
  EXPECT_EQ(sample.reach_at(sample.final_index()), analysis::whole_row(sample.mask, sample.tokens));
  for (std::int64_t s = 0; s < sample.forward_count(); ++s) {
    const analysis::Reach reach = sample.reach_at(s);
    const auto forward = source.forward(sample.place_of(s));
    EXPECT_EQ(forward.index, s);
    EXPECT_EQ(forward.reach, reach);
    for (std::int64_t l = 0; l < sample.layer_count(); ++l) {
      const auto received = source.received(s, l);
      // Every key of the step is seen, and no other: these networks give something to each.
      for (std::int64_t j = 0; j < sample.tokens; ++j)
        EXPECT_EQ(received.mean[static_cast<size_t>(j)] > 0, j < reach.end) << s << ", " << j;
      EXPECT_NEAR(std::accumulate(received.mean.begin(), received.mean.end(), 0.0), 1, 1e-4);
    }
    const auto weights = stored.floats(trace::dense_mean_name(sample.place_of(s), 0));
    for (std::int64_t i = reach.first; i < reach.end; ++i) {
      for (std::int64_t j = 0; j < sample.tokens; ++j)
        EXPECT_EQ(weights[static_cast<size_t>(i * sample.tokens + j)] > 0, j < reach.keys_of(i))
            << "step " << s << ", query " << i << ", key " << j;
    }
  }
  analysis::RunOptions run;
  const auto result =
      analysis::run_analyses({"absorption", "floating", "drift"}, {{request_.folder, "blocks"}}, run);
  ASSERT_EQ(result.analyses.size(), 3u);
  for (const auto& analysis : result.analyses) EXPECT_FALSE(analysis.tables.empty());
}

// The last token that a position held before a step, where tokens are written again.
TEST_P(BlockAnalyses, AStepKnowsWhatWasRevealedBeforeIt) {
  traced();
  const auto reader = trace::TraceReader::open(request_.folder);
  const analysis::StoredSource source(reader.manifest(), reader.read("only"));
  const auto& sample = source.sample();
  for (std::int64_t s = 0; s < sample.forward_count(); ++s) {
    const auto forward = source.forward(sample.place_of(s));
    for (std::int64_t p = sample.prompt_length; p < sample.tokens; ++p) {
      const auto at = static_cast<size_t>(p);
      EXPECT_EQ(forward.revealed_at[at] < 0, forward.masked[at] != 0) << s << ", " << p;
      EXPECT_LT(forward.revealed_at[at], forward.number);
    }
  }
}

// What keeps less is made from a full trace, too, to the byte.
TEST_P(BlockAnalyses, ACompactOneIsMadeOfIt) {
  const Context context{threads_};
  request_.observe = "all,rows";
  request_.groups = "regions";
  traced();
  const auto full = request_.folder;
  request_.keep = trace::Level::kCompact;
  request_.folder = scratch_ / "kept";
  run_trace(context, model_, make_trace_run(request_, model_), {[](const auto&) {}, [] {}});
  CompactRequest request;
  request.trace = full;
  request.out = scratch_ / "made";
  request.keep = trace::Level::kCompact;
  request.compact_samples = request_.compact_samples;
  compact_trace(request, threads_, {[](const auto&) {}, [] {}});
  EXPECT_TRUE(testing::same_files(testing::files_of(scratch_ / "made" / "samples"),
                                  testing::files_of(scratch_ / "kept" / "samples")));
}

// Features of a question that is watched in a packed stream are those of its trace.
TEST_P(BlockAnalyses, FeaturesAreThoseOfATrace) {
  const Context context{threads_};
  request_.observe = kFeatureObservables;
  traced();
  const auto reader = trace::TraceReader::open(request_.folder);
  const auto expected = attention_features(analysis::StoredSource(reader.manifest(), reader.read("only")));
  EXPECT_TRUE(expected.contains("top_moves"));
  std::map<std::size_t, WatchedOutcome> found;
  WatchedQuestions watched(
      context, model_.model.config(), request_, std::nullopt,
      [&](std::size_t number, WatchedOutcome outcome) { found[number] = std::move(outcome); });
  const auto prompt = prompts_of(request_, model_)(0);
  const auto fresh = [&] {
    return make_machine(model_.model, request_.decode, request_.ids->ids, std::nullopt);
  };
  std::size_t next = 0;
  const std::int64_t before = model_.model.passes();
  decode::stream(
      context, model_.model, {},
      [&]() -> std::optional<decode::StreamJob> {
        if (next == 2) return std::nullopt;
        decode::StreamJob job{next++, fresh()};
        job.look = watched.begin({job.number, prompt, *job.machine});
        job.on_step = [&, n = job.number](const decode::StepRecord& record) { watched.ran(n, record); };
        return job;
      },
      [&](std::size_t number, const decode::StepMachine&) { watched.end(number); }, &watched);
  // Both at once, each forward once, the look among them.
  EXPECT_EQ(model_.model.passes() - before, reader.read("only").shape(trace::kSteps)[0]);
  watched.finish();
  ASSERT_EQ(found.size(), 2u);
  for (const auto& [number, outcome] : found) {
    EXPECT_EQ(outcome.error, "");
    EXPECT_EQ(outcome.features, expected) << "question " << number;
  }
}

TEST_P(BlockAnalyses, ColumnsAreNotChosenFromIt) {
  request_.observe = "received";
  traced();
  EXPECT_TRUE(fails_with<InputError>(
      [&] {
        ColumnBook(request_.folder).choose("only", request_.ids->ids, {ColumnKind::kFloating, 0}, 0);
      },
      {"decodes no blocks", "block decoding"}));
}

// Heads and keys are changed while blocks are decoded, at single forwards as well; what is seen is what
// happens.
TEST_P(BlockAnalyses, ChangesAreMadeAndSeen) {
  const auto plain = traced();
  const std::int64_t T = plain.shape(trace::kTokens)[0], L = model_.model.config().layers;
  request_.changes = parse_changes({}, {"2=0"});
  const auto hidden = traced();
  const Ids ran = hidden.integers(trace::kRowsRun);
  for (std::int64_t s = 0; s < hidden.shape(trace::kSteps)[0]; ++s) {
    for (std::int64_t l = 0; l < L; ++l) {
      const auto weights = hidden.floats(trace::dense_mean_name(s, l));
      for (std::int64_t i = ran[static_cast<size_t>(2 * s)]; i < ran[static_cast<size_t>(2 * s + 1)]; ++i) {
        EXPECT_EQ(weights[static_cast<size_t>(i * hidden.shape(trace::kTokens)[0] + 2)], 0) << s << ", " << i;
      }
    }
  }
  // Of one forward: those in front of it are the same.
  request_.changes = parse_changes({"0.0/2=0"}, {});
  const auto once = traced();
  const auto same = [&](std::int64_t s, std::int64_t l) {
    return plain.floats_at(trace::kReceived, {s, l}) == once.floats_at(trace::kReceived, {s, l});
  };
  if (once.shape(trace::kTokens)[0] == T) {
    EXPECT_TRUE(same(1, L - 1));
    EXPECT_TRUE(same(2, 0)) << "heads are changed behind their weights";
    EXPECT_FALSE(same(2, L - 1));
  }
  request_.changes = parse_changes({"0.0/9000=0"}, {});
  EXPECT_TRUE(fails_with<InputError>([&] { traced(); }, {"steps below"}));
}

INSTANTIATE_TEST_SUITE_P(Families, BlockAnalyses, ::testing::ValuesIn(testing::traced_families()),
                         [](const auto& test) { return testing::name_of(test.param); });

}  // namespace
}  // namespace buoy::run
