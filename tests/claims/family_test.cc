// What is said of the family of networks, recomputed from its shipped table.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "buoy/base/file/files.h"
#include "buoy/claims/contrasts.h"
#include "buoy/claims/detectable.h"
#include "buoy/claims/siblings.h"
#include "buoy/stats/arms.h"

namespace buoy::claims {
namespace {

const std::filesystem::path kRoot = std::filesystem::path(BUOY_TEST_DATA) / ".." / "..";

std::vector<NetworkQuantity> numbers_in(const char* table) {
  std::vector<NetworkQuantity> out;
  for (auto& stored : read_quantities(kRoot / "studies" / "family" / table)) {
    EXPECT_EQ(stored.rules, rules_hash()) << table << ": siblings of other rules do not count";
    out.push_back(std::move(stored.quantity));
  }
  return out;
}

const QuantityRule& rule_called(std::string_view claim, std::string_view what) {
  for (const auto& rule : rule_of(claim).quantities) {
    if (rule.what == what) return rule;
  }
  throw std::runtime_error(fmt::format("no rule {} in {}", what, claim));
}

// Over questions and over networks, of one number in one arm.
struct Measured {
  double questions = 0, networks = 0;
};

Measured spreads_of(const std::vector<const NetworkQuantity*>& networks) {
  const auto n = static_cast<double>(networks.size());
  Measured out;
  double mean = 0;
  for (const auto* one : networks) {
    const auto& e = one->estimate;
    out.questions +=
        stats::error_of_interval(e.interval(), 1 - kAlpha) * std::sqrt(static_cast<double>(e.samples)) / n;
    mean += e.value / n;
  }
  for (const auto* one : networks) out.networks += std::pow(one->estimate.value - mean, 2) / (n - 1);
  out.networks = std::sqrt(out.networks);
  return out;
}

TEST(Family, AssumedSpreadsAreThoseOfItsTable) {
  const auto numbers = numbers_in("claim_quantities.csv.gz");
  for (const auto& spread : assumed_spreads()) {
    const auto& rule = rule_called(spread.claim, spread.quantity);
    std::map<std::pair<std::string, std::string>, std::vector<const NetworkQuantity*>> groups;
    for (const auto& one : numbers) {
      if (one.claim != spread.claim || one.data != "short" || !is_of(rule, one.quantity)) continue;
      if (one.network.arm == "full-masked" || (spread.claim == "C4" && one.network.arm == "causal-next"))
        groups[{one.quantity, one.network.arm}].push_back(&one);
    }
    ASSERT_FALSE(groups.empty()) << spread.claim << " " << spread.quantity;
    Measured most;
    for (const auto& [name, networks] : groups) {
      EXPECT_EQ(networks.size(), kFewestNetworks) << name.first << ", " << name.second;
      const auto of_group = spreads_of(networks);
      most.questions = std::max(most.questions, of_group.questions);
      most.networks = std::max(most.networks, of_group.networks);
    }
    const std::string name = fmt::format("{} {}", spread.claim, spread.quantity);
    EXPECT_EQ(fmt::format("{:.2g}", spread.over_questions), fmt::format("{:.2g}", most.questions)) << name;
    EXPECT_EQ(fmt::format("{:.2g}", spread.over_networks), fmt::format("{:.2g}", most.networks)) << name;
  }
}

// The cells of the lines of a Markdown table that begins with this header, without blanks around them.
std::vector<std::vector<std::string>> table_behind(const std::string& page, const std::string& header) {
  std::vector<std::vector<std::string>> out;
  std::size_t at = page.find(header);
  if (at == std::string::npos) return out;
  for (int skipped = 0; skipped < 2; ++skipped) at = page.find('\n', at) + 1;  // the header and its rule
  while (page.compare(at, 2, "| ") == 0) {
    const std::size_t end = page.find('\n', at);
    std::vector<std::string> cells;
    for (std::size_t from = at + 2, bar; (bar = page.find(" |", from)) < end; from = bar + 3)
      cells.push_back(bar > from ? page.substr(from, bar - from) : "");
    out.push_back(std::move(cells));
    at = end + 1;
  }
  return out;
}

// As training/describe_family.py writes it.
std::string cell_of(const ArmContrast& contrast) {
  const auto& e = contrast.estimate;
  const std::string text = fmt::format("{:.3g} [{:.3g}, {:.3g}]", e.value, e.lower, e.upper);
  if (contrast.finding == ContrastFinding::kAlsoUntrained) return text + " †";
  return name_of(contrast.finding).starts_with("beyond the margin") ? "**" + text + "**" : text;
}

TEST(Family, EffectsOnTheResultsPageAreThoseOfItsTables) {
  auto numbers = numbers_in("claim_quantities.csv.gz");
  const auto controls = numbers_in("untrained.csv.gz");
  numbers.insert(numbers.end(), controls.begin(), controls.end());
  std::map<std::string, std::string> found;  // by quantity and arms
  const auto key = [](const std::string& quantity, const std::string& arm, const std::string& other) {
    return quantity + "|" + arm + "|" + other;
  };
  for (const auto& one : contrasts_of(numbers))
    found[key(fmt::format("{} {} ({})", one.claim, one.quantity, one.data), one.arm, one.other)] =
        cell_of(one);
  const std::string next = "next token, causal mask", prefix = "next token, prefix mask",
                    causal = "masked tokens, causal mask", full = "masked tokens, full mask";
  const std::vector<std::pair<std::string, std::string>> columns = {
      {causal, next}, {full, causal}, {prefix, next}, {full, next}};
  const auto lines = table_behind(
      read_file(kRoot / "docs" / "results" / "2026-11-18-family.md"),
      "| quantity | objective, under the causal mask | full mask, masked tokens | prefix mask, next token |");
  ASSERT_GT(lines.size(), 50u);
  std::size_t effects = 0, untrained = 0;
  for (const auto& line : lines) {
    ASSERT_EQ(line.size(), columns.size() + 1) << line[0];
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const auto contrast = found.find(key(line[0], columns[i].first, columns[i].second));
      EXPECT_EQ(line[i + 1], contrast == found.end() ? "" : contrast->second)
          << line[0] << ": " << columns[i].first << " against " << columns[i].second
          << " (training/describe_family.py prints the page's tables)";
      effects += contrast != found.end();
      untrained += contrast != found.end() && contrast->second.ends_with("†");
    }
  }
  EXPECT_GT(effects, 200u);
  EXPECT_GT(untrained, 0u);
}

// That anchors move is what the full mask does to networks that were never trained.
TEST(Family, MovingAnchorsAreNoEffectOfTraining) {
  auto numbers = numbers_in("claim_quantities.csv.gz");
  const auto controls = numbers_in("untrained.csv.gz");
  numbers.insert(numbers.end(), controls.begin(), controls.end());
  std::size_t seen = 0;
  for (const auto& one : contrasts_of(numbers)) {
    if (one.quantity != rules::kStatic.number() || one.effect != "mask") continue;
    EXPECT_LT(one.untrained, -0.3) << one.data;
    if (one.data == "long") {
      EXPECT_EQ(one.finding, ContrastFinding::kAlsoUntrained) << one.estimate.upper;
    }
    EXPECT_NE(one.finding, ContrastFinding::kBeyond) << one.data;
    ++seen;
  }
  EXPECT_EQ(seen, 2u);
}

}  // namespace
}  // namespace buoy::claims
