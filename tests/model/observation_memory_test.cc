// Observing everything but dense matrices takes memory linear in the tokens.

#include <gtest/gtest.h>

#include "buoy/benchmark/peak_memory.h"
#include "model/golden_run.h"

namespace buoy {
namespace {

using testing::GoldenRun;
using testing::Ids;

class Everything final : public probe::Probe {
 public:
  explicit Everything(bool dense) : dense_(dense) {}
  probe::LayerRequest request(const probe::Address&, const probe::LayerExtent& extent) override {
    probe::LayerRequest r;
    r.received = r.entropy = r.log_sum_exp = r.first_share = r.row_weights = true;
    r.qk_after = r.qk_before = r.norms = r.value_norm = true;
    r.dense_mean = dense_;
    r.top = 8;
    r.groups = 16;
    for (std::int64_t i = 0; i < extent.query_rows; ++i)
      r.group_of_row.push_back(static_cast<std::uint8_t>(i % 16));
    for (std::int32_t i = 0; i < 8; ++i) r.rows.push_back(i);
    return r;
  }
  void take(const probe::Address&, probe::LayerRecord&&) override {}

 private:
  bool dense_;
};

TEST(ObservationMemory, GrowsWithTheTokensAndNotWithTheirSquare) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers keep freed memory";
#endif
  GoldenRun run("llada-f32");
  constexpr std::int64_t kTokens = 4096;
  const Ids ids = run.random_ids(kTokens, 2);
  const std::vector<model::SequenceInput> inputs = {{ids, {}, nullptr}};
  run.forward(inputs);  // buffers of the forward itself
  const auto extra = [&](bool dense) {
    Everything probe(dense);
    return benchmark::peak_extra_bytes([&] { run.forward(inputs, &probe); });
  };
  const std::uint64_t linear = extra(false), quadratic = extra(true);
  constexpr std::uint64_t kMatrix = sizeof(float) * kTokens * kTokens;  // 64 MiB: of one head, or the mean
  EXPECT_GE(quadratic, kMatrix) << "the measure itself does not work";
  // Per token and head: 16 groups in double and float, 8 rows, some twenty single numbers; unrotated q and k.
  const ModelConfig& c = run.model().config();
  const std::uint64_t per_token =
      static_cast<std::uint64_t>(c.heads) *
          (16 * 12 + 8 * 8 + 20 * 4 + 2 * 4 * static_cast<std::uint64_t>(c.head_dim)) +
      64;
  EXPECT_LT(linear, 2 * kTokens * per_token + (2 << 20));
  EXPECT_LT(linear, kMatrix / 4);
}

}  // namespace
}  // namespace buoy
