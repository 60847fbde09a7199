#include "buoy/report/networks/networks_part.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "buoy/base/counted.h"
#include "buoy/claims/contrasts.h"
#include "buoy/claims/siblings.h"
#include "buoy/report/networks/sibling_words.h"

namespace buoy::report {
namespace {

using claims::Contrast;
using claims::KindQuantity;
using claims::NetworkQuantity;

// Kinds as the claims mean them, and what mixes their masks and objectives.
std::string group_of(const claims::Network& network) {
  claims::Network trained = network;
  trained.control.clear();
  return trained.counts() ? network.kind() : fmt::format("{}, {} mask", network.kind(), network.mask);
}

enum Sort : std::size_t { kOwn, kSibling, kControl, kSorts };

Sort sort_of(const claims::Network& network) {
  if (!network.control.empty()) return kControl;
  return network.sibling ? kSibling : kOwn;
}

const std::string kDiffusionGroup = "masked diffusion", kAutoregressiveGroup = "autoregressive";

// The numbers of networks by group: the two kinds first, whatever comes first.
struct Dots {
  std::vector<std::string> groups;
  std::vector<std::vector<double>> values[kSorts];
  std::vector<std::size_t> counted;  // networks of a group that count
  std::size_t all = 0;

  void add(const NetworkQuantity& one) {
    const std::string group = group_of(one.network);
    auto found = std::find(groups.begin(), groups.end(), group);
    const auto at = group == kDiffusionGroup && found == groups.end()
                        ? 0
                        : static_cast<std::size_t>(found - groups.begin());
    if (found == groups.end()) {
      const auto place = static_cast<std::ptrdiff_t>(at);
      groups.insert(groups.begin() + place, group);
      counted.insert(counted.begin() + place, 0);
      for (auto& sort : values) sort.insert(sort.begin() + place, std::vector<double>());
    }
    values[sort_of(one.network)][at].push_back(one.estimate.value);
    counted[at] += one.network.counts() ? 1 : 0;
    ++all;
  }
};

// Beside arms that mix masks and objectives a kind is called by what it is made of, too.
std::string name_of_group(const std::string& group, std::size_t groups) {
  if (groups <= 2) return group;
  if (group == kDiffusionGroup) return "masked tokens, full mask";
  if (group == kAutoregressiveGroup) return "next token, causal mask";
  const bool diffusion = group.starts_with(kDiffusionGroup);
  return (diffusion ? "masked tokens" : "next token") +
         group.substr((diffusion ? kDiffusionGroup : kAutoregressiveGroup).size());
}

constexpr const char* kSortNames[] = {"networks of this study", "siblings, measured elsewhere",
                                      "untrained controls"};

// One panel: every network a dot, by kind. The legend stands in the first one.
figure::DotChart chart_of(const KindQuantity& quantity, const Dots& dots, const std::set<std::size_t>& sorts,
                          bool legend) {
  figure::DotChart chart;
  for (const std::size_t sort : sorts)
    chart.series.push_back({legend ? kSortNames[sort] : "", dots.values[sort], sort == kControl, sort});
  bool any_mean = false;
  for (std::size_t g = 0; g < dots.groups.size(); ++g) {
    const auto& group = dots.groups[g];
    const auto name = name_of_group(group, dots.groups.size());
    chart.groups.push_back(dots.counted[g] > 0 ? fmt::format("{}, n = {}", name, dots.counted[g]) : name);
    const auto mean = group == kDiffusionGroup        ? quantity.of_diffusion
                      : group == kAutoregressiveGroup ? quantity.of_autoregressive
                                                      : stats::Estimate{};
    chart.means.push_back({mean.value, mean.lower, mean.upper});
    any_mean = any_mean || std::isfinite(mean.lower);
  }
  if (!any_mean) chart.means.clear();
  if (legend) chart.mean_name = "mean of the networks that count, 95% interval";
  // Null and margin of a comparison are about a difference or a ratio, and not about the dots.
  const bool one_arm =
      quantity.rule.contrast == Contrast::kDiffusion || quantity.rule.contrast == Contrast::kAutoregressive;
  if (one_arm) {
    chart.null = quantity.rule.null;
    chart.margin = quantity.rule.margin;
    if (legend) chart.null_name = "null and margin";
  }
  return chart;
}

// One figure a claim, one panel a number. Of two rules on one number that with a null of its own is drawn.
std::optional<NamedFigure> figure_of(const claims::ClaimVerdict& claim,
                                     std::span<const NetworkQuantity> numbers) {
  struct Drawn {
    const KindQuantity* quantity;
    Dots dots;
  };
  std::vector<Drawn> all;
  std::set<std::size_t> sorts;
  std::set<std::string> data;
  std::size_t most = 0;
  for (const auto& quantity : claim.kinds.quantities) {
    const bool again = std::any_of(all.begin(), all.end(), [&](const Drawn& one) {
      return one.quantity->quantity == quantity.quantity && one.quantity->data == quantity.data;
    });
    if (again) continue;
    Dots dots;
    for (const auto& one : numbers) {
      if (one.quantity != quantity.quantity || one.data != quantity.data ||
          !std::isfinite(one.estimate.value))
        continue;
      dots.add(one);
      sorts.insert(sort_of(one.network));
    }
    if (dots.all == 0) continue;
    most = std::max(most, dots.all);
    data.insert(quantity.data);
    all.push_back({&quantity, std::move(dots)});
  }
  // One network a kind is what the other figures show.
  if (most < 3) return std::nullopt;
  figure::Figure page;
  page.letters = all.size() > 1;
  page.columns = std::min<std::size_t>(2, all.size());
  for (const auto& [quantity, dots] : all) {
    const std::string of = data.size() > 1 ? fmt::format(" ({})", quantity->data) : "";
    page.panels.push_back({quantity->quantity + of, chart_of(*quantity, dots, sorts, page.panels.empty())});
  }
  page.title = fmt::format("{}: {}", claim.id, claim.claim);
  page.caption = fmt::format("About kinds of models: {}. n: networks that count.", claim.kinds.words);
  return NamedFigure{"networks_" + claim.id,
                     fmt::format("{} Every dot is the number of one network; its questions give no error bar "
                                 "here. Bars: Student's t over the networks that count, with what questions "
                                 "add.",
                                 claim.claim),
                     std::move(page)};
}

// Verdicts with their numbers; claims without any, for the same reason, in one sentence.
std::vector<std::string> readings_of(std::span<const claims::ClaimVerdict> claims) {
  std::vector<std::string> out;
  std::map<std::string, std::string> without;
  for (const auto& claim : claims) {
    const auto& kinds = claim.kinds;
    if (kinds.evidence.empty()) {
      auto& ids = without[kinds.words];
      ids += (ids.empty() ? "" : ", ") + claim.id;
    } else {
      out.push_back(fmt::format("{}: {}: {}.", claim.id, kinds.words, kinds.evidence));
    }
  }
  for (const auto& [words, ids] : without) out.push_back(fmt::format("{}: {}.", ids, words));
  return out;
}

// "C1 share of ... (short): mask", with the difference without training.
std::string words_of(const claims::ArmContrast& one) {
  return fmt::format("{} {}{} ({}, {:.2g} with training, {:.2g} without)", one.claim, one.quantity,
                     one.data.empty() ? "" : " on " + one.data, one.effect, one.estimate.value,
                     one.untrained);
}

// How many differences between arms are found, and which of them need no training. Those of mask and
// objective together are counted, and not told one by one.
std::vector<std::string> contrast_readings(std::span<const claims::ArmContrast> contrasts) {
  using claims::ContrastFinding;
  if (contrasts.empty()) return {};
  std::map<ContrastFinding, std::size_t> counts;
  std::vector<std::string> untrained;
  for (const auto& one : contrasts) {
    ++counts[one.finding];
    if (one.finding == ContrastFinding::kAlsoUntrained && one.effect != "mask and objective")
      untrained.push_back(words_of(one));
  }
  std::vector<std::string> out = {fmt::format(
      "What mask and objective do: of {} between two arms (table claim_contrasts, not corrected for their "
      "number; no claim is judged by them) {} beyond the margin and beyond what untrained networks show; {} "
      "beyond the margin, without untrained networks of both arms to compare with; {} also without training, "
      "and so not told as an effect of it.",
      buoy::counted(contrasts.size(), "difference"), counts[ContrastFinding::kBeyond],
      counts[ContrastFinding::kBeyondUnchecked], counts[ContrastFinding::kAlsoUntrained])};
  if (!untrained.empty())
    out.push_back(fmt::format(
        "Also without training (beyond the margin, but not beyond what untrained networks show): {}.",
        fmt::join(untrained, "; ")));
  return out;
}

}  // namespace

NetworksPart networks_part(std::span<const claims::ClaimVerdict> claims,
                           std::span<const NetworkQuantity> siblings, FileNames& names) {
  Section section;
  section.name = "networks";
  section.title = "Networks";
  section.question = fmt::format(
      "What do these numbers say about kinds of models? Here every network is one sample. From {} networks "
      "per "
      "arm on there is a verdict, by Student's t over networks; with fewer there is none. Networks that were "
      "measured elsewhere count where the rules of verdicts and the questions are the same; untrained "
      "networks and those whose mask is not that of their kind are shown and do not count.",
      claims::kFewestNetworks);
  section.readings = readings_of(claims);
  if (const auto words = sibling_words(siblings); !words.empty())
    section.readings.insert(section.readings.begin(), "Siblings, measured elsewhere: " + words + ".");
  std::vector<NetworkQuantity> own;
  std::vector<claims::ArmContrast> contrasts;
  for (const auto& claim : claims) {
    own.insert(own.end(), claim.quantities.begin(), claim.quantities.end());
    auto numbers = claim.quantities;
    std::copy_if(siblings.begin(), siblings.end(), std::back_inserter(numbers),
                 [&](const NetworkQuantity& one) { return one.claim == claim.id; });
    const auto of_claim = claims::contrasts_of(numbers);
    contrasts.insert(contrasts.end(), of_claim.begin(), of_claim.end());
    if (auto figure = figure_of(claim, numbers)) section.figures.push_back(std::move(*figure));
  }
  for (auto& reading : contrast_readings(contrasts)) section.readings.push_back(std::move(reading));
  NetworksPart out;
  out.section = draw_section(section, names);
  out.tables.push_back(claims::quantities_table(own));
  if (!contrasts.empty()) out.tables.push_back(claims::contrasts_table(contrasts));
  return out;
}

}  // namespace buoy::report
