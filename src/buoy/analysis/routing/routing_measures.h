#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "buoy/analysis/core/with_null.h"

namespace buoy::analysis {

// What is measured of the routers of one forward and layer.
enum RoutingQuantity : std::int64_t {
  kImbalance,
  kRouterEntropyMean,
  kTopWeight,
  kChange,
  kChangeMasked,
  kChangeRevealed,
  kChangeSettled,
  kByState,
  kByRegion,
  kByType,
  kRoutingQuantities
};
inline constexpr std::array<std::string_view, kRoutingQuantities> kRoutingNames = {
    "imbalance",       "entropy",        "top_weight", "change",    "change_masked",
    "change_revealed", "change_settled", "by_state",   "by_region", "by_type"};

// The experts of each token, [tokens, chosen]; -1: the row did not run.
struct Routes {
  std::span<const std::int32_t> experts;
  std::int64_t chosen = 0, count = 0;  // experts for each token, experts of the layer

  std::int64_t tokens() const { return std::ssize(experts) / chosen; }
  std::span<const std::int32_t> of(std::int64_t token) const {
    return experts.subspan(static_cast<std::size_t>(token * chosen), static_cast<std::size_t>(chosen));
  }
  bool ran(std::int64_t token) const { return of(token)[0] >= 0; }
};

// Times the sum of squared shares; the null has each token choose evenly among all experts.
WithNull imbalance_of(const Routes& routes);
// Over these tokens, which ran in both forwards. The null permutes them within the forward, in expectation.
WithNull change_of(const Routes& now, const Routes& before, std::span<const std::int32_t> tokens);
// Mutual information between a token's class and its experts, nats; tokens of class -1 are left out. The null
// is the mean over permutations of the classes among the tokens.
WithNull specialisation_of(const Routes& routes, std::span<const std::int32_t> class_of_token);

}  // namespace buoy::analysis
