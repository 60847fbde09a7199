#include "buoy/claims/kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "buoy/claims/corrected.h"
#include "buoy/claims/kind_verdicts.h"
#include "buoy/stats/arms.h"

namespace buoy::claims {
namespace {

bool contains(std::span<const Network> networks, const Network& network) {
  return std::find(networks.begin(), networks.end(), network) != networks.end();
}

// Networks of one quantity on the same questions.
struct Arm {
  std::vector<Network> networks;
  std::vector<stats::NetworkNumber> numbers;

  void add(const NetworkQuantity& one) {
    const auto& e = one.estimate;
    const bool counts = std::isfinite(e.value) && std::isfinite(e.lower) && std::isfinite(e.upper) &&
                        e.samples >= kFewestSamples;
    if (!counts || contains(networks, one.network)) return;
    networks.push_back(one.network);
    numbers.push_back({e.value, stats::error_of_interval(e.interval(), 1 - kAlpha), e.samples});
  }
  bool enough() const { return networks.size() >= kFewestNetworks; }
};

struct BothArms {
  Arm diffusion, autoregressive;

  bool enough(Contrast contrast) const {
    const bool needs_diffusion = contrast != Contrast::kAutoregressive;
    const bool needs_autoregressive = contrast != Contrast::kDiffusion;
    return (!needs_diffusion || diffusion.enough()) && (!needs_autoregressive || autoregressive.enough());
  }

  // Without an interval; NaN where an arm has no network.
  double value(Contrast contrast) const {
    const double nothing = std::numeric_limits<double>::quiet_NaN();
    const double of_diffusion = diffusion.numbers.empty() ? nothing : arm_mean(diffusion.numbers).mean;
    const double of_other = autoregressive.numbers.empty() ? nothing : arm_mean(autoregressive.numbers).mean;
    switch (contrast) {
      case Contrast::kDiffusion:
        return of_diffusion;
      case Contrast::kAutoregressive:
        return of_other;
      case Contrast::kDifference:
        return of_other - of_diffusion;
      case Contrast::kRatio:
        break;
    }
    return nothing;  // gains of networks that know nothing have no ratio
  }

  Estimate estimate(Contrast contrast, double confidence) const {
    switch (contrast) {
      case Contrast::kDiffusion:
        return arm_estimate(arm_mean(diffusion.numbers), confidence);
      case Contrast::kAutoregressive:
        return arm_estimate(arm_mean(autoregressive.numbers), confidence);
      case Contrast::kDifference:
        return difference_of_arms(arm_mean(autoregressive.numbers), arm_mean(diffusion.numbers), confidence);
      case Contrast::kRatio:
        break;
    }
    return ratio_of_arms(arm_mean(diffusion.numbers), arm_mean(autoregressive.numbers), confidence);
  }
};

// Networks that count, or their controls.
BothArms arms_of(std::span<const NetworkQuantity> numbers, const std::string& quantity,
                 const std::string& data, bool controls = false) {
  BothArms out;
  for (const auto& one : numbers) {
    Network network = one.network;
    if (controls && network.control.empty()) continue;
    if (controls) network.control.clear();
    if (one.quantity != quantity || one.data != data || !network.counts()) continue;
    (one.network.masked_diffusion ? out.diffusion : out.autoregressive).add(one);
  }
  return out;
}

// Twice the one gain must be possible for the other: otherwise a ratio says how high the ceiling is.
std::string lacking_room(const KindQuantity& ratio, const BothArms& gains,
                         std::span<const NetworkQuantity> numbers) {
  const auto rooms = arms_of(numbers, std::string(rules::kRoom), ratio.data);
  if (rooms.diffusion.numbers.empty()) return "";
  const double twice = ratio.rule.null * arm_mean(gains.autoregressive.numbers).mean;
  const double room = arm_mean(rooms.diffusion.numbers).mean;
  if (twice <= room) return "";
  return fmt::format(
      "no room: {:g} times the autoregressive gain is {:.3g}, and masked-diffusion models can "
      "gain no more than {:.3g}",
      ratio.rule.null, twice, room);
}

// One quantity over networks, asked at any level.
struct Asked {
  KindQuantity quantity;
  BothArms arms;
  std::string lacking;

  double control = std::numeric_limits<double>::quiet_NaN();  // the same of untrained networks

  Part at(double alpha) const {
    if (!lacking.empty()) return {Finding::kLacking, lacking, lacking};
    return {side_of_null(arms.estimate(quantity.rule.contrast, 1 - alpha), quantity.rule, control), "", ""};
  }
};

std::vector<Asked> asked_of(const ClaimRule& rule, std::span<const NetworkQuantity> numbers) {
  std::vector<std::string> sets;
  for (const auto& one : numbers) {
    if (one.network.counts() && std::find(sets.begin(), sets.end(), one.data) == sets.end())
      sets.push_back(one.data);
  }
  std::vector<Asked> out;
  for (const auto& data : sets) {
    for (const auto& quantity : rule.about_kinds()) {
      std::vector<std::string> names;
      for (const auto& one : numbers) {
        if (one.data != data || !one.network.counts() || !is_of(quantity, one.quantity)) continue;
        if (std::find(names.begin(), names.end(), one.quantity) == names.end()) names.push_back(one.quantity);
      }
      const bool none = names.empty();
      if (none) names.push_back(std::string(quantity.number()));
      for (const auto& name : names) {
        const std::string detail = detail_of(quantity, name);
        Asked asked{{.rule = quantity,
                     .name = std::string(quantity.what) + (detail.empty() ? "" : ": " + detail),
                     .quantity = name,
                     .data = data,
                     .of_diffusion = {},
                     .of_autoregressive = {},
                     .estimate = {},
                     .words = {}},
                    arms_of(numbers, name, data),
                    {}};
        asked.quantity.diffusion = asked.arms.diffusion.networks.size();
        asked.quantity.autoregressive = asked.arms.autoregressive.networks.size();
        if (none || !asked.arms.enough(quantity.contrast)) {
          asked.lacking = fmt::format("{}: too few networks have it", asked.quantity.name);
        } else if (quantity.contrast == Contrast::kRatio) {
          asked.lacking = lacking_room(asked.quantity, asked.arms, numbers);
        }
        asked.control = arms_of(numbers, name, data, true).value(quantity.contrast);
        out.push_back(std::move(asked));
      }
    }
  }
  return out;
}

// What the number of a network can be, and so the mean of an arm; nothing for the rest.
Estimate possible(const Estimate& estimate, const QuantityRule& rule) {
  const auto name = rule.number();
  if (name.starts_with("Spearman") || name.starts_with("Pearson"))
    return stats::clipped(estimate, stats::kCorrelations);
  return name.starts_with("share of") ? stats::clipped(estimate, stats::kShares) : estimate;
}

// With the words of its interval over networks.
KindQuantity told(const Asked& asked, const Part& part) {
  KindQuantity out = asked.quantity;
  out.finding = part.finding;
  const auto mean_of = [&](const Arm& arm) {
    return arm.enough() ? possible(arm_estimate(arm_mean(arm.numbers), 1 - kAlpha), out.rule) : Estimate{};
  };
  out.of_diffusion = mean_of(asked.arms.diffusion);
  out.of_autoregressive = mean_of(asked.arms.autoregressive);
  if (!asked.lacking.empty()) {
    out.words = asked.lacking;
    return out;
  }
  out.estimate = asked.arms.estimate(out.rule.contrast, 1 - kAlpha);
  if (out.rule.contrast == Contrast::kDiffusion || out.rule.contrast == Contrast::kAutoregressive)
    out.estimate = possible(out.estimate, out.rule);
  if (const auto why = held_back(out.estimate, out.rule, asked.control); !why.empty()) {
    out.words = fmt::format("{} ({})", words_of(out.estimate), why);
    return out;
  }
  const Finding alone = side_of_null(out.estimate, out.rule);
  const std::string corrected = decided(alone) && !decided(part.finding)
                                    ? " by itself, open when corrected for several quantities"
                                    : "";
  out.words =
      fmt::format("{} ({}{})", words_of(out.estimate), remark(out.estimate, out.rule, alone), corrected);
  return out;
}

void count_networks(const ClaimRule& rule, std::span<const NetworkQuantity> numbers,
                    std::span<const Network> judged, KindsVerdict& out) {
  std::vector<Network> networks;
  const auto take = [&](const Network& network) {
    if (network.counts() && !contains(networks, network)) networks.push_back(network);
  };
  for (const auto& one : numbers) take(one.network);
  for (const auto& network : judged) take(network);
  for (const auto& network : networks) ++(network.masked_diffusion ? out.diffusion : out.autoregressive);
  if (rule.arms == Arms::kDiffusion) out.autoregressive = 0;
}

}  // namespace

KindsVerdict judge_kinds(const ClaimRule& rule, std::span<const NetworkQuantity> all,
                         std::span<const Network> judged) {
  std::vector<NetworkQuantity> numbers;
  std::copy_if(all.begin(), all.end(), std::back_inserter(numbers),
               [&](const NetworkQuantity& one) { return one.claim == rule.id; });
  KindsVerdict out;
  count_networks(rule, numbers, judged, out);
  const bool both = rule.arms == Arms::kBoth;
  const std::size_t fewest = both ? std::min(out.diffusion, out.autoregressive) : out.diffusion;
  const std::string counts =
      !both || out.diffusion == out.autoregressive
          ? fmt::format("{} per arm", fewest)
          : fmt::format("{} masked-diffusion, {} autoregressive", out.diffusion, out.autoregressive);
  out.enough = fewest >= kFewestNetworks;

  const auto asked = asked_of(rule, numbers);
  std::vector<Question> questions;
  for (const auto& one : asked) questions.push_back([&one](double alpha) { return one.at(alpha); });
  const auto parts = decide(questions);
  for (std::size_t i = 0; i < asked.size(); ++i) out.quantities.push_back(told(asked[i], parts[i]));
  if (!out.enough) {
    out.words = fmt::format("too few networks ({}; from {} on)", counts, kFewestNetworks);
    return out;
  }
  out.verdict = kind_verdict(rule, out.quantities);
  out.words = fmt::format("{} ({}{}{})", name_of(out.verdict), counts, parts.empty() ? "" : "; ",
                          counted_parts(parts));
  std::vector<std::string> evidence;
  for (const auto& quantity : out.quantities)
    evidence.push_back(fmt::format("{}{}{} {}", quantity.data, quantity.data.empty() ? "" : ": ",
                                   quantity.name, quantity.words));
  out.evidence = join(evidence, "; ");
  return out;
}

}  // namespace buoy::claims
