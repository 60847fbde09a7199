// Traces of models that decode blocks: what is decoded is what is decoded unwatched, every forward stands
// there with its kind, and what it saw is, to the bit, what the same rows see without a cache.

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "buoy/analysis/core/run.h"
#include "buoy/analysis/sample/stored_source.h"
#include "buoy/base/error.h"
#include "buoy/decode/drive.h"
#include "buoy/decode/stream.h"
#include "buoy/run/attention_features.h"
#include "buoy/run/block_run.h"
#include "buoy/run/change/column_change.h"
#include "buoy/run/live/compact_trace.h"
#include "buoy/run/live/watched_questions.h"
#include "buoy/run/trace_request.h"
#include "buoy/trace/reader.h"
#include "buoy/trace/schema.h"
#include "run/runs.h"
#include "support/fails_with.h"
#include "support/family_case.h"

namespace buoy::run {
namespace {

using testing::fails_with;
using testing::family_folder;
using testing::TempFolder;
using trace::StepKind;
using Ids = std::vector<std::int32_t>;

// Dense weights of every layer, mean over heads, of one forward.
struct DenseProbe final : probe::Probe {
  std::map<std::int64_t, std::vector<float>> of_layer;

  probe::LayerRequest request(const probe::Address&, const probe::LayerExtent&) override {
    probe::LayerRequest r;
    r.dense_mean = true;
    return r;
  }
  void take(const probe::Address& address, probe::LayerRecord&& record) override {
    of_layer[address.layer] = record.dense_mean;
  }
};

// A family with a decoding rule, where it needs one.
struct TracedFamily {
  const char *name, *rule;
};

class BlockTrace : public ::testing::TestWithParam<TracedFamily> {
 protected:
  BlockTrace() : model_(load_model(family_folder(GetParam().name))) {
    auto& o = request_.decode;
    const bool small = model_.model.config().vocabulary < 75;
    o.mask_token = mask_ = small ? 50 : 75;
    o.max_new_tokens = 16;
    if (GetParam().rule != nullptr) o.decoding_rule = GetParam().rule;
    if (model_.model.config().family == Family::kLlada2) o.block_length = 4;
    if (edits()) o.editing_threshold = o.threshold = 0.5;
    if (is_a2d(model_.model.config().family)) o.decoding_rule = "bd3lm", o.block_length = 8, o.steps = 6;
    request_.observe = "all,rows,dense-mean,states,residual,residual-norms,head-out,lens,predictions";
    request_.items.resize(1);
    request_.items[0].id = "only";
    request_.ids = Prompt{};
    request_.ids->ids = {26, 7, 71, 5, 34, 69, 12, 13, 50};
    if (small) request_.ids->ids = {26, 7, 31, 5, 34, 29, 12, 13, 40};
  }

  bool edits() const { return request_.decode.decoding_rule == "llada21"; }

  trace::StoredSample traced() {
    request_.folder = scratch_ / std::to_string(number_++);
    const Context context{threads_};
    const auto result =
        run_trace(context, model_, make_trace_run(request_, model_), {[](const auto&) {}, [] {}});
    EXPECT_EQ(result.samples, 1u);
    const auto reader = trace::TraceReader::open(request_.folder);
    EXPECT_EQ(reader.manifest().blocks, true);
    return reader.read("only");
  }

  std::unique_ptr<decode::StepMachine> unwatched() {
    const Context context{threads_};
    auto machine = make_machine(model_.model, request_.decode, request_.ids->ids, std::nullopt);
    decode::StepMachine* machines[] = {machine.get()};
    decode::drive(context, model_.model, machines, nullptr);
    return machine;
  }

  TempFolder scratch_;
  ThreadPool threads_{2};
  LoadedModel model_;
  TraceRequest request_;
  std::int32_t mask_ = 0;
  int number_ = 0;
};

std::vector<StepKind> kinds_of(const trace::StoredSample& sample) {
  std::vector<StepKind> kinds;
  for (const auto kind : sample.integers(trace::kStepKinds)) kinds.push_back(static_cast<StepKind>(kind));
  return kinds;
}

TEST_P(BlockTrace, HoldsWhatIsDecodedUnwatched) {
  const auto sample = traced();
  const auto machine = unwatched();
  const Ids tokens = sample.integers(trace::kTokens);
  EXPECT_EQ(tokens, Ids(machine->row().begin(), machine->row().begin() + std::ssize(tokens)));
  EXPECT_EQ(std::ssize(tokens), machine->decoded_length());
  EXPECT_EQ(sample.text(trace::kAttention), trace::kBlocksAttention);
  const auto grid = machine->grid().value();
  EXPECT_EQ(sample.integer_text(trace::kBlockLength), grid.block);
  EXPECT_EQ(sample.integer_text(trace::kGridOrigin), grid.origin);

  // Every forward with its kind; the last is the look at the final row.
  const auto kinds = kinds_of(sample);
  const Ids steps = sample.integers(trace::kSteps);
  ASSERT_EQ(kinds.size(), steps.size());
  for (size_t s = 0; s < steps.size(); ++s) EXPECT_EQ(steps[s], static_cast<std::int32_t>(s));
  EXPECT_EQ(std::count(kinds.begin(), kinds.end(), StepKind::kDenoise), machine->step());
  EXPECT_EQ(std::count(kinds.begin(), kinds.end(), StepKind::kPrompt), 1);
  // Where tokens are edited, the last forward of a block changes nothing, and is kept.
  EXPECT_GE(std::count(kinds.begin(), kinds.end(), StepKind::kFinish), edits() ? 0 : 1);
  EXPECT_EQ(kinds.back(), StepKind::kFinalRow);
  EXPECT_EQ(sample.integer_text(trace::kFinalStep), steps.back());

  // Reveals, in order, are those of the row; a masked position has none.
  const Ids reveals = sample.integers(trace::kReveals), revealed_at = sample.integers(trace::kRevealedAt);
  Ids last(tokens.size(), -1), written = tokens;
  size_t edited = 0;
  for (size_t i = 0; i < reveals.size(); i += 3) {
    const auto position = static_cast<size_t>(reveals[i + 1]);
    edited += last[position] >= 0;
    written[position] = reveals[i + 2];
    last[position] = reveals[i];
    if (i >= 3) {
      EXPECT_GE(reveals[i], reveals[i - 3]);
    }
  }
  EXPECT_EQ(written, tokens);
  EXPECT_EQ(edited > 0, edits());
  EXPECT_EQ(revealed_at, last);
  for (size_t p = request_.ids->ids.size(); p < tokens.size(); ++p)
    EXPECT_EQ(last[p] < 0, tokens[p] == mask_) << p;
}

TEST_P(BlockTrace, EveryForwardSawWhatItsRowsSeeWithoutACache) {
  const auto sample = traced();
  const auto machine = unwatched();
  const Context context{threads_};
  const std::int64_t T = sample.shape(trace::kTokens)[0];
  const Ids rows = sample.integers(trace::kTokensByStep), ran = sample.integers(trace::kRowsRun),
            sizes = sample.integers(trace::kGroupSizes);
  const std::int64_t S = std::ssize(rows) / T, G = std::ssize(sizes) / S;
  for (std::int64_t s = 0; s < S; ++s) {
    const std::int64_t first = ran[static_cast<size_t>(2 * s)], end = ran[static_cast<size_t>(2 * s + 1)];
    ASSERT_LT(first, end);
    EXPECT_EQ(std::accumulate(sizes.begin() + s * G, sizes.begin() + (s + 1) * G, std::int64_t{0}),
              end - first);
    DenseProbe probe;
    std::vector<model::SequenceInput> input = {
        {std::span(rows).subspan(static_cast<size_t>(s * T), static_cast<size_t>(T)), {}}};
    input[0].grid = machine->grid();
    // A block is seen as a whole behind a prefix that is causal; what is stored is causal itself.
    if (model_.model.config().family == Family::kNemotron &&
        sample.integers(trace::kStepKinds)[static_cast<size_t>(s)] == 0)
      input[0].grid = model::BlockGrid{4, first, ops::BeforeGrid::kCausal};
    model_.model.forward(context, input, &probe);
    for (const auto& [layer, expected] : probe.of_layer) {
      const auto found = sample.floats(trace::dense_mean_name(s, layer));
      ASSERT_EQ(found.size(), expected.size());
      std::int64_t differing = 0, elsewhere = 0;
      for (std::int64_t at = 0; at < T * T; ++at) {
        const auto value = found[static_cast<size_t>(at)];
        const std::int64_t row = at / T;
        if (row < first || row >= end) {
          elsewhere += value != 0;
        } else {
          differing += value != expected[static_cast<size_t>(at)];
        }
      }
      EXPECT_EQ(differing, 0) << "forward " << s << ", layer " << layer;
      EXPECT_EQ(elsewhere, 0) << "rows that did not run";
    }
  }
}

TEST_P(BlockTrace, TheLookAtTheFinalRowHoldsTheForwardsThatFinishedBlocks) {
  const auto sample = traced();
  const std::int64_t T = sample.shape(trace::kTokens)[0], H = model_.model.config().heads;
  const auto kinds = kinds_of(sample);
  const auto last = static_cast<std::int64_t>(kinds.size()) - 1;
  const Ids ran = sample.integers(trace::kRowsRun);
  int compared = 0;
  for (std::int64_t s = 0; s < last; ++s) {
    if (kinds[static_cast<size_t>(s)] == StepKind::kDenoise) continue;
    for (std::int64_t l = 0; l < model_.model.config().layers; ++l) {
      for (const auto name : {trace::kEntropy, trace::kLogSumExp, trace::kFirstShare, trace::kQueryNorm}) {
        const auto then = sample.floats_at(name, {s, l}), now = sample.floats_at(name, {last, l});
        for (std::int64_t h = 0; h < H; ++h) {
          for (std::int64_t row = ran[static_cast<size_t>(2 * s)]; row < ran[static_cast<size_t>(2 * s + 1)];
               ++row) {
            ASSERT_EQ(then[static_cast<size_t>(h * T + row)], now[static_cast<size_t>(h * T + row)])
                << name << ", forward " << s << ", layer " << l << ", row " << row;
            ++compared;
          }
        }
      }
    }
  }
  EXPECT_GT(compared, 100);
}

// As the blocks were denoised: of a model that stores finished ones causally, the grid of its trace is
// another.
TEST_P(BlockTrace, SaysHowBlocksWereDenoised) {
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
TEST_P(BlockTrace, AnalysesTakeTheStepsThatDenoise) {
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
TEST_P(BlockTrace, AStepKnowsWhatWasRevealedBeforeIt) {
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
TEST_P(BlockTrace, ACompactOneIsMadeOfIt) {
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
TEST_P(BlockTrace, FeaturesAreThoseOfATrace) {
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
  decode::stream(
      context, model_.model, {},
      [&]() -> std::optional<decode::StreamJob> {
        if (next == 2) return std::nullopt;
        const auto scout = fresh();
        const auto blocks = std::make_shared<const observe::BlockRun>(
            note_block_run(context, model_.model, *scout, request_.final_row));
        decode::StreamJob job{next++, fresh()};
        job.look = watched.begin({job.number, prompt, *job.machine, blocks});
        return job;
      },
      [&](std::size_t number, const decode::StepMachine&) { watched.end(number); }, &watched);
  watched.finish();
  ASSERT_EQ(found.size(), 2u);
  for (const auto& [number, outcome] : found) {
    EXPECT_EQ(outcome.error, "");
    EXPECT_EQ(outcome.features, expected) << "question " << number;
  }
}

TEST_P(BlockTrace, ColumnsAreNotChosenFromIt) {
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
TEST_P(BlockTrace, ChangesAreMadeAndSeen) {
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

INSTANTIATE_TEST_SUITE_P(
    Families, BlockTrace,
    ::testing::Values(TracedFamily{"sdar-f32", nullptr}, TracedFamily{"fast-dllm-v2-f32", nullptr},
                      TracedFamily{"a2d-qwen3-f32", nullptr}, TracedFamily{"a2d-qwen3-bf16", nullptr},
                      TracedFamily{"nemotron-f32", nullptr}, TracedFamily{"nemotron-bf16", nullptr},
                      TracedFamily{"llada2-f32", "llada2"}, TracedFamily{"llada2-f32", "llada21"}),
    [](const auto& test) {
      std::string name = test.param.name;
      if (test.param.rule != nullptr) name += std::string("_") + test.param.rule;
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

}  // namespace
}  // namespace buoy::run
