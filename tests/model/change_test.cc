// Biases and head scales that depend on layer and step, through the model and the decoders, on the blocked
// path.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "model/golden_run.h"

namespace buoy {
namespace {

using testing::Bits;
using testing::GoldenRun;
using testing::Ids;

constexpr float kHidden = -std::numeric_limits<float>::infinity();

// Changes one layer of one step, and looks at the weights there.
class Changer final : public probe::Probe {
 public:
  std::int64_t layer = 0, step = 0;
  std::vector<float> key_bias, head_scale;
  std::vector<float> received;  // of the changed layer

  probe::LayerRequest request(const probe::Address& address, const probe::LayerExtent&) override {
    probe::LayerRequest request;
    request.received = address.layer == layer && address.step == step;
    return request;
  }
  void take(const probe::Address&, probe::LayerRecord&& record) override { received = record.received; }
  probe::Change change(const probe::Address& address, const probe::LayerExtent&) override {
    if (address.layer != layer || address.step != step) return {};
    return {key_bias, head_scale};
  }
};

class LayerChanges : public ::testing::TestWithParam<std::string> {};

TEST_P(LayerChanges, AnEmptyOneChangesNoBit) {
  GoldenRun run(GetParam());
  const Ids ids = run.random_ids(300, 5);
  Changer zero;
  zero.key_bias.assign(ids.size(), 0.0f);
  zero.head_scale.assign(static_cast<size_t>(run.model().config().heads), 1.0f);
  EXPECT_EQ(run.forward(ids, nullptr, &zero), run.forward(ids));
}

TEST_P(LayerChanges, AHiddenKeyReceivesNothingInThatLayerAlone) {
  GoldenRun run(GetParam());
  const Ids ids = run.random_ids(300, 5);
  Changer hide;
  hide.layer = 1;
  hide.key_bias.assign(ids.size(), 0.0f);
  hide.key_bias[17] = kHidden;
  const Bits plain = run.forward(ids), changed = run.forward(ids, nullptr, &hide);
  EXPECT_FALSE(changed == plain);
  const auto heads = static_cast<size_t>(run.model().config().heads);
  ASSERT_EQ(hide.received.size(), heads * ids.size());
  for (size_t h = 0; h < heads; ++h) {
    EXPECT_EQ(hide.received[h * ids.size() + 17], 0.0f);
    EXPECT_GT(hide.received[h * ids.size() + 16], 0.0f);
  }
  hide.step = 3;  // a forward that is not step 3 is left alone
  EXPECT_EQ(run.forward(ids, nullptr, &hide), plain);
}

TEST_P(LayerChanges, ALogarithmDampsByItsFactor) {
  GoldenRun run(GetParam());
  const Ids ids = run.random_ids(40, 5);
  Changer watch, damp;
  run.forward(ids, nullptr, &watch);
  damp.key_bias.assign(ids.size(), 0.0f);
  damp.key_bias[3] = std::log(0.25f);
  run.forward(ids, nullptr, &damp);
  // With p the share of key 3 in a row, damping makes it p/4 / (1 - 3p/4): below p, above p/4.
  const auto heads = static_cast<size_t>(run.model().config().heads);
  for (size_t h = 0; h < heads; ++h) {
    const float before = watch.received[h * ids.size() + 3], after = damp.received[h * ids.size() + 3];
    EXPECT_LT(after, before);
    EXPECT_GT(after, before / 4);
  }
}

TEST_P(LayerChanges, AllHeadsScaledToNothingLeaveNoTraceOfTheOtherTokens) {
  GoldenRun run(GetParam());
  class Mute final : public probe::Probe {
   public:
    explicit Mute(size_t heads) : zeros(heads, 0.0f) {}
    probe::LayerRequest request(const probe::Address&, const probe::LayerExtent&) override { return {}; }
    void take(const probe::Address&, probe::LayerRecord&&) override {}
    probe::Change change(const probe::Address&, const probe::LayerExtent&) override { return {{}, zeros}; }
    std::vector<float> zeros;
  } mute(static_cast<size_t>(run.model().config().heads));
  // Without attention a row knows its own token alone: two rows with the same token agree to the bit.
  Ids ids = run.random_ids(60, 8);
  ids[50] = ids[10];
  const Bits logits = run.forward(ids, nullptr, &mute);
  const auto width = static_cast<size_t>(run.model().config().vocabulary);
  EXPECT_EQ(std::memcmp(logits.numbers.data() + 10 * width, logits.numbers.data() + 50 * width,
                        width * sizeof(float)),
            0);
}

INSTANTIATE_TEST_SUITE_P(Goldens, LayerChanges, ::testing::ValuesIn(testing::golden_cases()),
                         testing::golden_case_name);

}  // namespace
}  // namespace buoy
