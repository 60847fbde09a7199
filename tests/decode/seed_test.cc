// The seed decides every draw: the same seed gives the same run, another seed another one, and a run
// without draws does not depend on it.

#include <gtest/gtest.h>

#include "buoy/decode/autoregressive.h"
#include "buoy/decode/dream.h"
#include "buoy/decode/llada.h"
#include "decode/fake_logits.h"

namespace buoy {
namespace {

using namespace testing;

const Ids kPrompt = {3, 4, 5};

struct Outcome {
  Ids row, revealed_at;
  bool operator==(const Outcome&) const = default;
};

Outcome run(decode::StepMachine&& machine) {
  run_to_the_end(machine, random_model(1));
  return {machine.row(), machine.revealed_at()};
}

Outcome llada(std::uint64_t seed, double temperature, decode::LladaOrder order) {
  decode::LladaOptions o;
  o.max_new_tokens = o.steps = o.block_length = 24;
  o.mask_token = kMask;
  o.temperature = temperature;
  o.order = order;
  o.seed = seed;
  return run(decode::LladaMachine(kPrompt, o));
}

Outcome dream(std::uint64_t seed, double temperature, decode::DreamAlgorithm algorithm, double alg_temp = 0) {
  decode::DreamOptions o;
  o.max_new_tokens = o.steps = 24;
  o.mask_token = kMask;
  o.temperature = temperature;
  o.algorithm = algorithm;
  o.alg_temp = alg_temp;
  o.seed = seed;
  return run(decode::DreamMachine(kPrompt, o));
}

Outcome autoregressive(std::uint64_t seed, double temperature) {
  decode::AutoregressiveOptions o;
  o.max_new_tokens = 24;
  o.temperature = temperature;
  o.seed = seed;
  return run(decode::AutoregressiveMachine(kPrompt, o, {0, 0}));
}

constexpr std::uint64_t kLargeSeed = 0x123456789ABCDEF0;

template <typename Decode>
void expect_seeded_ids(const Decode& decode) {
  for (const std::uint64_t seed : {std::uint64_t{0}, kLargeSeed}) EXPECT_EQ(decode(seed), decode(seed));
  EXPECT_NE(decode(0).row, decode(1).row);
  EXPECT_NE(decode(kLargeSeed).row, decode(kLargeSeed & 0xFFFFFFFF).row) << "the upper half counts";
}

TEST(Seeds, DecideTheTokensDrawnAboveTemperatureZero) {
  expect_seeded_ids([](std::uint64_t seed) { return llada(seed, 1, decode::LladaOrder::kLowConfidence); });
  expect_seeded_ids([](std::uint64_t seed) { return dream(seed, 1, decode::DreamAlgorithm::kOrigin); });
  expect_seeded_ids([](std::uint64_t seed) { return dream(seed, 1, decode::DreamAlgorithm::kEntropy); });
  expect_seeded_ids([](std::uint64_t seed) { return autoregressive(seed, 1); });
}

template <typename Decode>
void expect_seeded_order(const Decode& decode) {
  EXPECT_EQ(decode(5), decode(5));
  EXPECT_NE(decode(5).revealed_at, decode(6).revealed_at);
  EXPECT_EQ(decode(5).row, decode(6).row) << "only the order was drawn";
}

TEST(Seeds, DecideTheOrderWhereTheOrderIsDrawn) {
  expect_seeded_order([](std::uint64_t seed) { return llada(seed, 0, decode::LladaOrder::kRandom); });
  expect_seeded_order([](std::uint64_t seed) { return dream(seed, 0, decode::DreamAlgorithm::kOrigin); });
  expect_seeded_order(
      [](std::uint64_t seed) { return dream(seed, 0, decode::DreamAlgorithm::kEntropy, 1.0); });
}

TEST(Seeds, MeanNothingWhereNothingIsDrawn) {
  EXPECT_EQ(llada(1, 0, decode::LladaOrder::kLowConfidence), llada(2, 0, decode::LladaOrder::kLowConfidence));
  EXPECT_EQ(dream(1, 0, decode::DreamAlgorithm::kEntropy), dream(2, 0, decode::DreamAlgorithm::kEntropy));
  EXPECT_EQ(autoregressive(1, 0), autoregressive(2, 0));
}

}  // namespace
}  // namespace buoy
