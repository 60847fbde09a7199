// The residual stream, the lens and changes against tools/goldens/make_residual.py, a plain PyTorch pass: the
// oracle in double agrees with PyTorch in double, and the fused pass errs at most twice as much as PyTorch in
// float32.

#include <gtest/gtest.h>

#include <cmath>

#include "buoy/model/model_reference.h"
#include "model/golden_run.h"
#include "model/residual_probe.h"

namespace buoy {
namespace {

using probe::ResidualPoint;
using testing::Bits;
using testing::Golden;
using testing::GoldenRun;
using testing::Ids;
using testing::ResidualProbe;
using testing::rms_difference;

std::vector<std::string> float32_cases() {
  std::vector<std::string> out;
  for (const auto& name : testing::golden_cases()) {
    if (std::filesystem::exists(testing::data_folder() / "goldens" / name / "residual.safetensors.gz"))
      out.push_back(name);
  }
  return out;
}

std::vector<double> widened(const std::vector<float>& values) {
  return {values.begin(), values.end()};
}
std::vector<float> narrowed(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

class ResidualParity : public ::testing::TestWithParam<std::string> {
 protected:
  ResidualParity()
      : golden_(GetParam(), "residual.safetensors.gz"),
        run_(GetParam()),
        ids_(golden_.ids("ids")),
        rows_(testing::all_rows(ids_.size())),
        reference_(run_.model().config(), run_.model().weights()) {}

  void expect_within(const std::string& array, const std::vector<float>& ours) {
    const auto exact = golden_.numbers(array + "_f64");
    ASSERT_EQ(ours.size(), exact.size()) << array;
    EXPECT_LE(rms_difference(widened(ours), exact),
              2 * rms_difference(golden_.numbers(array + "_f32"), exact))
        << array;
  }
  // Two passes in double differ by roundings of 2^-53, some hundred of which follow each other in these
  // networks.
  void expect_exact(const std::string& array, const std::vector<double>& ours) {
    const auto exact = golden_.numbers(array + "_f64");
    ASSERT_EQ(ours.size(), exact.size()) << array;
    const double size = rms_difference(exact, std::vector<double>(exact.size(), 0.0));
    EXPECT_LE(rms_difference(ours, exact), std::ldexp(256, -53) * size) << array;
  }
  void expect_logits(const std::string& array, ResidualProbe& changes) {
    expect_exact(array, reference_.forward({ids_, rows_, nullptr}, &changes).logits);
    expect_within(array, run_.forward(ids_, nullptr, &changes).numbers);
    EXPECT_GT(rms_difference(golden_.numbers(array + "_f64"), golden_.numbers("logits_f64")), 0.01);
  }

  Golden golden_;
  GoldenRun run_;
  Ids ids_, rows_;
  model::ModelReference reference_;
};

TEST_P(ResidualParity, StatesAtEveryPoint) {
  ResidualProbe probe;
  probe.want_everything(rows_);
  run_.forward(ids_, nullptr, &probe);
  const auto exact = reference_.forward({ids_, rows_, nullptr});
  expect_exact("logits", exact.logits);
  for (std::int64_t layer = 0; layer < run_.model().config().layers; ++layer) {
    const std::string name = "layer_" + std::to_string(layer) + "_";
    const auto& oracle = exact.layers[static_cast<size_t>(layer)];
    expect_exact(name + "attn_out", oracle.attention_out);
    expect_exact(name + "mid", oracle.mid);
    expect_exact(name + "mlp_out", oracle.mlp_out);
    expect_exact(name + "post", oracle.post);
    const auto& ours = probe.layer(layer);
    expect_within(name + "pre", ours.pre);
    expect_within(name + "attn_out", ours.attention_out);
    expect_within(name + "mid", ours.mid);
    expect_within(name + "mlp_out", ours.mlp_out);
    expect_within(name + "post", ours.post);
  }
}

TEST_P(ResidualParity, Lens) {
  ResidualProbe probe;
  probe.wanted.rows = rows_;
  probe.wanted.lens = 5;
  run_.forward(ids_, nullptr, &probe);
  for (std::int64_t layer = 0; layer < run_.model().config().layers; ++layer) {
    const std::string name = "layer_" + std::to_string(layer) + "_lens";
    EXPECT_EQ(probe.layer(layer).lens_tokens, golden_.ids(name + "_tokens"));
    expect_within(name, probe.layer(layer).lens_probabilities);
    EXPECT_TRUE(probe.layer(layer).post.empty());
  }
}

TEST_P(ResidualParity, AddedVector) {
  ResidualProbe changes;
  changes.changes[0].residual = {{{1, 4}, narrowed(golden_.numbers("vector"))}};
  expect_logits("steered.logits", changes);
}

TEST_P(ResidualParity, ReplacedStates) {
  ResidualProbe changes;
  changes.changes[run_.model().config().layers - 1].residual = {
      {{2, 5}, narrowed(golden_.numbers("states")), ResidualPoint::kPre, true}};
  expect_logits("patched.logits", changes);
}

TEST_P(ResidualParity, MlpLeftOut) {
  ResidualProbe changes;
  changes.changes[0].mlp_scale = 0;
  expect_logits("ablated.logits", changes);
}

TEST_P(ResidualParity, NormsPeaksAndHeadsFollowFromTheStates) {
  ResidualProbe states, norms;
  states.want_everything({1, 3});
  norms.wanted.rows = {1, 3};
  norms.wanted.norms = true;
  run_.forward(ids_, nullptr, &states);
  run_.forward(ids_, nullptr, &norms);
  ThreadPool threads(1);
  const auto hidden = static_cast<size_t>(run_.model().config().hidden);
  const auto length = [&](const std::vector<float>& all, size_t row) {
    double sum = 0;
    for (size_t d = 0; d < hidden; ++d) sum += double{all[row * hidden + d]} * all[row * hidden + d];
    return static_cast<float>(std::sqrt(sum));
  };
  for (std::int64_t layer = 0; layer < run_.model().config().layers; ++layer) {
    const auto &full = states.layer(layer), &few = norms.layer(layer);
    EXPECT_TRUE(few.post.empty() && few.attention_out.empty() && few.mlp_out.empty());
    ASSERT_EQ(few.peak_at.size(), 2u);
    for (size_t row = 0; row < 2; ++row) {
      EXPECT_EQ(few.norm[row], length(full.post, row));
      EXPECT_EQ(few.attention_norm[row], length(full.attention_out, row));
      EXPECT_EQ(few.mlp_norm[row], length(full.mlp_out, row));
      EXPECT_EQ(few.peak[row], std::abs(full.post[row * hidden + static_cast<size_t>(few.peak_at[row])]));
      for (size_t d = 0; d < hidden; ++d) EXPECT_LE(std::abs(full.post[row * hidden + d]), few.peak[row]);
    }
    // What the heads add is together what the attention adds, to the rounding of sums of that length.
    const auto parts = run_.model().head_contributions({threads}, layer, full.head_out);
    const auto heads = static_cast<size_t>(run_.model().config().heads);
    ASSERT_EQ(parts.size(), 2 * heads * hidden);
    for (size_t i = 0; i < 2 * hidden; ++i) {
      double sum = 0;
      for (size_t h = 0; h < heads; ++h) sum += parts[(i / hidden * heads + h) * hidden + i % hidden];
      EXPECT_NEAR(sum, full.attention_out[i], 64 * std::ldexp(1, -24) * few.attention_norm[i / hidden]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Goldens, ResidualParity, ::testing::ValuesIn(float32_cases()),
                         testing::golden_case_name);

}  // namespace
}  // namespace buoy
