#include "buoy/report/networks/networks_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "buoy/claims/siblings.h"

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

struct Dots {
  std::vector<std::string> groups;
  std::vector<std::vector<double>> values[kSorts];
  std::vector<std::size_t> counted;  // networks of a group that count
  std::size_t all = 0;

  void add(const NetworkQuantity& one) {
    const std::string group = group_of(one.network);
    const auto found = std::find(groups.begin(), groups.end(), group);
    const auto at = static_cast<std::size_t>(found - groups.begin());
    if (found == groups.end()) {
      groups.push_back(group);
      counted.push_back(0);
      for (auto& sort : values) sort.emplace_back();
    }
    values[sort_of(one.network)][at].push_back(one.estimate.value);
    counted[at] += one.network.counts() ? 1 : 0;
    ++all;
  }
};

// One panel: every network a dot, by kind.
struct NetworkPanel {
  figure::Panel panel;
  std::size_t dots = 0;
};

NetworkPanel panel_of(const KindQuantity& quantity, std::span<const NetworkQuantity> numbers) {
  Dots dots;
  for (const auto& one : numbers) {
    if (one.quantity == quantity.quantity && one.data == quantity.data && std::isfinite(one.estimate.value))
      dots.add(one);
  }
  figure::DotChart chart;
  constexpr const char* kNames[] = {"networks of this study", "siblings, measured elsewhere",
                                    "untrained controls"};
  for (std::size_t sort = 0; sort < kSorts; ++sort) {
    if (std::all_of(dots.values[sort].begin(), dots.values[sort].end(),
                    [](const auto& v) { return v.empty(); }))
      continue;
    chart.series.push_back({kNames[sort], dots.values[sort], sort == kControl, sort});
  }
  chart.mean_name = "mean of the networks that count, 95% interval";
  bool any_mean = false;
  for (std::size_t g = 0; g < dots.groups.size(); ++g) {
    const auto& group = dots.groups[g];
    chart.groups.push_back(fmt::format("{}, n = {}", group, dots.counted[g]));
    const auto& mean = group == "masked diffusion" ? quantity.of_diffusion
                       : group == "autoregressive" ? quantity.of_autoregressive
                                                   : stats::Estimate{};
    chart.means.push_back({mean.value, mean.lower, mean.upper});
    any_mean = any_mean || std::isfinite(mean.lower);
  }
  if (!any_mean) chart.means.clear();
  // Null and margin of a comparison are about a difference or a ratio, and not about the dots.
  const bool one_arm =
      quantity.rule.contrast == Contrast::kDiffusion || quantity.rule.contrast == Contrast::kAutoregressive;
  if (one_arm) {
    chart.null = quantity.rule.null;
    chart.margin = quantity.rule.margin;
    chart.null_name = "null and margin";
  }
  const std::string data = quantity.data.empty() ? "" : fmt::format(" ({})", quantity.data);
  return {{quantity.quantity + data, std::move(chart)}, dots.all};
}

// One figure a claim, one panel a number. Of two rules on one number that with a null of its own is drawn.
std::optional<NamedFigure> figure_of(const claims::ClaimVerdict& claim,
                                     std::span<const NetworkQuantity> numbers) {
  figure::Figure page;
  page.columns = 3;
  page.letters = true;
  std::vector<std::pair<std::string, std::string>> drawn;
  std::size_t most = 0;
  for (const auto& quantity : claim.kinds.quantities) {
    const std::pair key{quantity.quantity, quantity.data};
    if (std::find(drawn.begin(), drawn.end(), key) != drawn.end()) continue;
    auto [panel, dots] = panel_of(quantity, numbers);
    if (dots == 0) continue;
    drawn.push_back(key);
    most = std::max(most, dots);
    page.panels.push_back(std::move(panel));
  }
  // One network a kind is what the other figures show.
  if (most < 3) return std::nullopt;
  page.columns = std::min<std::size_t>(page.columns, page.panels.size());
  page.title = fmt::format("{}: {}", claim.id, claim.claim);
  page.caption = fmt::format("About kinds of models: {}. n: networks that count.", claim.kinds.words);
  return NamedFigure{"networks_" + claim.id,
                     fmt::format("{} Every dot is the number of one network; its questions give no error bar "
                                 "here. Bars: Student's t over the networks that count, with what questions "
                                 "add.",
                                 claim.claim),
                     std::move(page)};
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
  std::vector<NetworkQuantity> own;
  for (const auto& claim : claims) {
    own.insert(own.end(), claim.quantities.begin(), claim.quantities.end());
    const auto& kinds = claim.kinds;
    section.readings.push_back(fmt::format("{}: {}{}{}.", claim.id, kinds.words,
                                           kinds.evidence.empty() ? "" : ": ", kinds.evidence));
    auto numbers = claim.quantities;
    std::copy_if(siblings.begin(), siblings.end(), std::back_inserter(numbers),
                 [&](const NetworkQuantity& one) { return one.claim == claim.id; });
    if (auto figure = figure_of(claim, numbers)) section.figures.push_back(std::move(*figure));
  }
  NetworksPart out;
  out.section = draw_section(section, names);
  out.tables.push_back(claims::quantities_table(own));
  return out;
}

}  // namespace buoy::report
