#include "buoy/claims/contrasts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>

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

struct Measured {
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

// One number of a claim, by arm.
struct OfArms {
  std::string claim, quantity, data;
  std::map<ArmKey, Measured> arms;
};

std::vector<OfArms> by_arm(std::span<const NetworkQuantity> numbers) {
  std::vector<OfArms> out;
  std::map<std::tuple<std::string, std::string, std::string>, std::size_t> places;
  for (const auto& one : numbers) {
    const auto mask = std::find(kMasks.begin(), kMasks.end(), one.network.mask);
    if (mask == kMasks.end() || !one.network.control.empty()) continue;
    const auto [place, is_new] = places.try_emplace({one.claim, one.quantity, one.data}, out.size());
    if (is_new) out.push_back({one.claim, one.quantity, one.data, {}});
    const ArmKey key{one.network.masked_diffusion, static_cast<std::size_t>(mask - kMasks.begin())};
    out[place->second].arms[key].add(one);
  }
  return out;
}

}  // namespace

std::vector<ArmContrast> contrasts_of(std::span<const NetworkQuantity> numbers) {
  std::vector<ArmContrast> out;
  for (const auto& [claim, quantity, data, arms] : by_arm(numbers)) {
    for (auto one = arms.begin(); one != arms.end(); ++one) {
      for (auto other = arms.begin(); other != one; ++other) {
        const auto& [of_one, of_other] = std::tie(one->second.numbers, other->second.numbers);
        if (std::min(of_one.size(), of_other.size()) < kFewestOfAContrast) continue;
        out.push_back(
            {claim, quantity, data, one->first.words(), other->first.words(),
             difference_of(one->first, other->first),
             stats::difference_of_arms(stats::arm_mean(of_one), stats::arm_mean(of_other), 1 - kAlpha),
             of_one.size(), of_other.size()});
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
               {t.other_networks, static_cast<std::int64_t>(one.other_networks)}});
  }
  return table;
}

}  // namespace buoy::claims
