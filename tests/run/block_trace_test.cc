// Traces of models that decode blocks: what is decoded is what is decoded unwatched, every forward stands
// there with its kind, and what it saw is, to the bit, what the same rows see without a cache.

#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "buoy/trace/schema.h"
#include "run/block_trace_case.h"

namespace buoy::run {
namespace {

using testing::kinds_of;
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

class BlockTrace : public testing::BlockTraceCase {};

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

INSTANTIATE_TEST_SUITE_P(Families, BlockTrace, ::testing::ValuesIn(testing::traced_families()),
                         [](const auto& test) { return testing::name_of(test.param); });

}  // namespace
}  // namespace buoy::run
