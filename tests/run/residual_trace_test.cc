// The residual stream in a trace: what is stored of it agrees with itself and with the decoding.
#include <gtest/gtest.h>

#include <cmath>

#include "buoy/questions/data/item_reader.h"
#include "buoy/run/trace_request.h"
#include "buoy/trace/reader.h"
#include "buoy/trace/schema.h"
#include "run/runs.h"

namespace buoy::run {
namespace {

using testing::TempFolder;

class ResidualTrace : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Pair, ResidualTrace, ::testing::Bool(),
                         [](const auto& one) { return one.param ? "diffusion" : "autoregressive"; });

TEST_P(ResidualTrace, NormsCosinesAndLensFollowFromTheStates) {
  const TempFolder scratch;
  const auto data = testing::write_world(scratch, {.count = 1, .passages = 2});
  LoadedModel model = load_model(testing::pair_model(GetParam()).path);
  TraceRequest request;
  request.folder = scratch / "trace";
  request.items = questions::read_items(data, {});
  request.prompt_template = testing::pair_spec(data, {}).prompt_template;
  request.observe = "residual-norms,lens,residual,head-out";
  request.decode.max_new_tokens = 6;
  if (GetParam()) request.decode.steps = 3;
  ThreadPool threads(2);
  run_trace({threads}, model, make_trace_run(request, model), {[](const auto&) {}, [] {}});
  const auto reader = trace::TraceReader::open(request.folder);
  const auto sample = reader.read(reader.samples().front().id);

  const ModelConfig& c = model.model.config();
  const auto steps = sample.integers(trace::kSteps), rows = sample.integers(trace::kRowPositions);
  const auto tokens = sample.integers(trace::kTokens), revealed = sample.integers(trace::kRevealedAt);
  const auto hidden = static_cast<size_t>(c.hidden), R = rows.size(), L = static_cast<size_t>(c.layers);
  ASSERT_EQ(sample.shape(trace::kResidualNorm),
            (std::vector<std::int64_t>{std::ssize(steps), c.layers, std::ssize(rows)}));
  const auto norms = sample.floats(trace::kResidualNorm), peaks = sample.floats(trace::kResidualPeak),
             cosines = sample.floats(trace::kResidualCosine),
             probabilities = sample.floats(trace::kLensProbabilities);
  const auto peak_at = sample.integers(trace::kResidualPeakAt),
             likeliest = sample.integers(trace::kLensTokens);
  const size_t K = likeliest.size() / (steps.size() * L * R);
  EXPECT_EQ(K, 8u);
  for (size_t s = 0; s < steps.size(); ++s) {
    for (size_t layer = 0; layer < L; ++layer) {
      const auto name = [&](std::int32_t step) {
        return trace::array_name(trace::kResidual, step, static_cast<std::int64_t>(layer));
      };
      const auto states = sample.floats(name(steps[s]));
      ASSERT_EQ(states.size(), R * hidden);
      const auto before = s > 0 ? sample.floats(name(steps[s - 1])) : states;
      EXPECT_EQ(sample.shape(trace::array_name(trace::kHeadOut, steps[s], static_cast<std::int64_t>(layer))),
                (std::vector<std::int64_t>{std::ssize(rows), c.heads, c.head_dim}));
      for (size_t r = 0; r < R; ++r) {
        const size_t at = (s * L + layer) * R + r;
        double sum = 0, other = 0, dot = 0;
        for (size_t d = 0; d < hidden; ++d) {
          const double x = states[r * hidden + d], y = before[r * hidden + d];
          sum += x * x, other += y * y, dot += x * y;
        }
        EXPECT_FLOAT_EQ(norms[at], static_cast<float>(std::sqrt(sum)));
        EXPECT_FLOAT_EQ(cosines[at], static_cast<float>(dot / std::sqrt(sum) / std::sqrt(other)));
        EXPECT_EQ(peaks[at], std::abs(states[r * hidden + static_cast<size_t>(peak_at[at])]));
        float total = 0;
        for (size_t k = 0; k < K; ++k) total += probabilities[at * K + k];
        EXPECT_LE(total, 1.0001f);
        EXPECT_GT(total, 0);
      }
    }
    // Behind the last layer stands what was then written: by greedy decoding, the likeliest token.
    for (size_t r = 0; r < R; ++r) {
      const auto position = static_cast<size_t>(rows[r]) + (GetParam() ? 0 : 1);
      if (position >= tokens.size() || (GetParam() && revealed[position] != steps[s])) continue;
      EXPECT_EQ(likeliest[((s * L + L - 1) * R + r) * K], tokens[position]) << "step " << s << ", row " << r;
    }
  }
}

}  // namespace
}  // namespace buoy::run
