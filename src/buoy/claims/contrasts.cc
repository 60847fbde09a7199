#include "buoy/claims/contrasts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>

#include "buoy/claims/claims_evidence.h"
#include "buoy/claims/corrected.h"
#include "buoy/claims/rules.h"
#include "buoy/result/schema/claims.h"
#include "buoy/stats/arms.h"

namespace buoy::claims {
namespace {

constexpr std::array<std::string_view, 3> kMasks = {"causal", "prefix", "full"};

// Masked diffusion comes behind next token, wider masks behind narrower ones.
struct ArmKey {
  bool masked_tokens = false;
  std::size_t mask = 0;  // in kMasks

  auto operator<=>(const ArmKey&) const = default;
  std::string words() const {
    return fmt::format("{}, {} mask", masked_tokens ? "masked tokens" : "next token", kMasks[mask]);
  }
};

std::string difference_of(const ArmKey& one, const ArmKey& other) {
  if (one.mask == other.mask) return "objective";
  return one.masked_tokens == other.masked_tokens ? "mask" : "mask and objective";
}

struct Arm {
  std::vector<Network> networks;
  std::vector<stats::NetworkNumber> numbers;

  void add(const NetworkQuantity& one) {
    const auto& e = one.estimate;
    const bool usable = std::isfinite(e.value) && std::isfinite(e.lower) && std::isfinite(e.upper) &&
                        e.samples >= kFewestSamples;
    if (!usable || std::find(networks.begin(), networks.end(), one.network) != networks.end()) return;
    networks.push_back(one.network);
    numbers.push_back({e.value, stats::error_of_interval(e.interval(), 1 - kAlpha), e.samples});
  }
};

// One number of a claim, by arm; that of untrained networks beside it.
struct OfArms {
  std::string claim, quantity, data;
  std::map<ArmKey, Arm> arms, controls = {};

  // NaN where an arm has no control.
  double untrained(const ArmKey& one, const ArmKey& other) const {
    const auto mean = [&](const ArmKey& key) {
      const auto found = controls.find(key);
      return found == controls.end() || found->second.numbers.empty()
                 ? std::numeric_limits<double>::quiet_NaN()
                 : stats::arm_mean(found->second.numbers).mean;
    };
    return mean(one) - mean(other);
  }
};

std::vector<OfArms> by_arm(std::span<const NetworkQuantity> numbers) {
  std::vector<OfArms> out;
  std::map<std::tuple<std::string, std::string, std::string>, std::size_t> places;
  for (const auto& one : numbers) {
    const auto mask = std::find(kMasks.begin(), kMasks.end(), one.network.mask);
    if (mask == kMasks.end()) continue;
    const auto [place, is_new] = places.try_emplace({one.claim, one.quantity, one.data}, out.size());
    if (is_new) out.push_back({one.claim, one.quantity, one.data, {}});
    const ArmKey key{one.network.masked_diffusion, static_cast<std::size_t>(mask - kMasks.begin())};
    auto& of_arms = out[place->second];
    (one.network.control.empty() ? of_arms.arms : of_arms.controls)[key].add(one);
  }
  return out;
}

// The rule that the claims have (side_of_null), with both sides alike.
ContrastFinding finding_of(const ArmContrast& contrast) {
  const QuantityRule rule{contrast.quantity, Side::kAbove, 0, contrast.margin};
  const Finding alone = side_of_null(contrast.estimate, rule);
  if (alone == Finding::kEqual) return ContrastFinding::kWithin;
  if (!decided(alone)) return ContrastFinding::kOpen;
  if (!std::isfinite(contrast.untrained)) return ContrastFinding::kBeyondUnchecked;
  return side_of_null(contrast.estimate, rule, contrast.untrained) == alone ? ContrastFinding::kBeyond
                                                                            : ContrastFinding::kAlsoUntrained;
}

}  // namespace

std::string_view name_of(ContrastFinding finding) {
  switch (finding) {
    case ContrastFinding::kBeyond:
      return "beyond the margin";
    case ContrastFinding::kBeyondUnchecked:
      return "beyond the margin, no controls";
    case ContrastFinding::kAlsoUntrained:
      return "also without training";
    case ContrastFinding::kWithin:
      return "within the margin";
    case ContrastFinding::kOpen:
      break;
  }
  return "open";
}

double margin_of_difference(const std::string& claim, const std::string& quantity) {
  for (const auto& rule : claim_rules()) {
    if (rule.id != claim) continue;
    for (const auto& one : rule.about_kinds()) {
      if (one.contrast != Contrast::kRatio && is_of(one, quantity)) return one.margin;
    }
  }
  return 0;
}

std::vector<ArmContrast> contrasts_of(std::span<const NetworkQuantity> numbers) {
  std::vector<ArmContrast> out;
  for (const auto& of_arms : by_arm(numbers)) {
    const auto& arms = of_arms.arms;
    for (auto one = arms.begin(); one != arms.end(); ++one) {
      for (auto other = arms.begin(); other != one; ++other) {
        const auto& [of_one, of_other] = std::tie(one->second.numbers, other->second.numbers);
        if (std::min(of_one.size(), of_other.size()) < kFewestOfAContrast) continue;
        ArmContrast contrast{.claim = of_arms.claim,
                             .quantity = of_arms.quantity,
                             .data = of_arms.data,
                             .arm = one->first.words(),
                             .other = other->first.words(),
                             .effect = difference_of(one->first, other->first),
                             .estimate = stats::difference_of_arms(stats::arm_mean(of_one),
                                                                   stats::arm_mean(of_other), 1 - kAlpha),
                             .networks = of_one.size(),
                             .other_networks = of_other.size(),
                             .margin = margin_of_difference(of_arms.claim, of_arms.quantity),
                             .untrained = of_arms.untrained(one->first, other->first)};
        contrast.finding = finding_of(contrast);
        out.push_back(std::move(contrast));
      }
    }
  }
  return out;
}

Table contrasts_table(std::span<const ArmContrast> contrasts) {
  const auto& t = schema::claim_contrasts;
  Table table(t);
  for (const auto& one : contrasts) {
    const auto& e = one.estimate;
    table.add({{t.claim, one.claim},
               {t.quantity, one.quantity},
               {t.data, one.data.empty() ? Cell{} : Cell{one.data}},
               {t.arm, one.arm},
               {t.other, one.other},
               {t.effect, one.effect},
               {t.difference, IntervalCells{e.value, e.lower, e.upper}},
               {t.networks, static_cast<std::int64_t>(one.networks)},
               {t.other_networks, static_cast<std::int64_t>(one.other_networks)},
               {t.margin, one.margin},
               {t.untrained, std::isfinite(one.untrained) ? Cell{one.untrained} : Cell{}},
               {t.finding, std::string(name_of(one.finding))}});
  }
  return table;
}

}  // namespace buoy::claims
