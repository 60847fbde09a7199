// Routers on the card, and pairs they sort: run on given logits, or on choices.

#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "buoy/ops/experts/experts_cuda.h"
#include "ops/device_array.h"
#include "ops/error_ratio.h"

namespace buoy::testing {

using Ids = std::vector<std::int32_t>;

struct Decided {
  Ids experts;
  std::vector<float> weights, entropy;
  std::int32_t flag;
};

// Where the card leaves sorted pairs, and guards behind what it may write.
struct Sorted {
  Sorted(std::int64_t rows, std::int64_t experts, std::int64_t chosen)
      : first(Ids(static_cast<size_t>(experts + 1), -1)),
        source(Ids(static_cast<size_t>(rows * chosen), -1)),
        place(Ids(static_cast<size_t>(rows * chosen), -1)),
        counts(std::vector<std::uint8_t>(static_cast<size_t>(ops::pair_counts(rows, experts)) + 4, kGuard)) {}

  ops::DevicePairs pairs() const { return {first.data(), source.data(), place.data(), counts.data()}; }
  void expect_as_on_the_cpu(const Ids& routed) const {
    const auto expected = ops::rows_by_expert(routed, std::ssize(first.host()) - 1);
    EXPECT_EQ(first.host(), Ids(expected.first.begin(), expected.first.end()));
    const Ids sources = source.host(), places = place.host();
    ASSERT_EQ(sources, Ids(expected.pairs.begin(), expected.pairs.end()));
    for (size_t j = 0; j < sources.size(); ++j) EXPECT_EQ(places[static_cast<size_t>(sources[j])], j);
    const auto bytes = counts.host();
    EXPECT_EQ(std::vector(bytes.end() - 4, bytes.end()), std::vector<std::uint8_t>(4, kGuard));
  }

  static constexpr std::uint8_t kGuard = 0xa5;
  DeviceArray<std::int32_t> first, source, place;
  DeviceArray<std::uint8_t> counts;
};

inline Decided decide(const ops::RouterRule& rule, std::int64_t rows, std::int64_t parts,
                      const std::vector<float>& logits, const std::vector<float>& bias,
                      const Sorted& sorted) {
  const auto pairs = static_cast<size_t>(rows * rule.chosen);
  const DeviceArray<float> on_card(logits), steering(bias);
  const DeviceArray<std::int32_t> experts(pairs), flag(Ids{99});
  const DeviceArray<float> weights(pairs), entropy(static_cast<size_t>(rows));
  const Stream stream;
  ops::route_cuda(stream, rule,
                  {.logits = on_card.data(),
                   .rows = rows,
                   .parts = parts,
                   .bias = bias.empty() ? nullptr : steering.data(),
                   .experts = experts.data(),
                   .weights = weights.data(),
                   .entropy = entropy.data(),
                   .pairs = sorted.pairs(),
                   .flag = flag.data(),
                   .code = 7});
  stream.synchronize();
  return {experts.host(), weights.host(), entropy.host(), flag.host()[0]};
}
// Experts that rows choose, some of them none; slots of a row differ.
inline Ids choices(std::int64_t rows, std::int64_t experts, std::int64_t chosen, std::uint64_t seed) {
  const auto numbers = normal_numbers(seed, rows * experts);
  Ids out;
  for (std::int64_t row = 0; row < rows; ++row) {
    Ids order(static_cast<size_t>(experts));
    for (std::int64_t e = 0; e < experts; ++e) order[static_cast<size_t>(e)] = static_cast<std::int32_t>(e);
    std::sort(order.begin(), order.end(), [&](auto a, auto b) {
      return numbers[static_cast<size_t>(row * experts + a)] >
             numbers[static_cast<size_t>(row * experts + b)];
    });
    out.insert(out.end(), order.begin(), order.begin() + chosen);
  }
  return out;
}

// Sorts pairs of chosen experts: by logits from which a router chooses just them.
inline Sorted sorted_by_card(const Ids& routed, std::int64_t experts, std::int64_t chosen) {
  const std::int64_t rows = std::ssize(routed) / chosen;
  std::vector<float> logits(static_cast<size_t>(rows * experts), -100.0f);
  for (std::int64_t pair = 0; pair < std::ssize(routed); ++pair) {
    const std::int64_t expert = routed[static_cast<size_t>(pair)];
    logits[static_cast<size_t>(pair / chosen * experts + expert)] = -static_cast<float>(pair % chosen);
  }
  Sorted sorted(rows, experts, chosen);
  const Decided found =
      decide({ops::RouterKind::kSoftmax, experts, chosen, true}, rows, 1, logits, {}, sorted);
  EXPECT_EQ(found.experts, routed);
  return sorted;
}

}  // namespace buoy::testing
