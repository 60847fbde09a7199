#include "buoy/analysis/structure/structure_classes.h"

#include <algorithm>
#include <bit>

#include "buoy/base/error.h"
#include "buoy/stats/not_a_number.h"
#include "buoy/trace/schema.h"

namespace buoy::analysis {
namespace {

bool any(const std::vector<std::uint8_t>& flags) {
  return std::any_of(flags.begin(), flags.end(), [](std::uint8_t f) { return f != 0; });
}

std::vector<std::uint8_t> gold_positions(const ObservedSample& sample) {
  std::vector<std::uint8_t> gold;
  for (const auto region : sample.region_of_token) {
    const auto at = static_cast<size_t>(region);
    const bool named = region != trace::kNoRegion && at < sample.region_names.size();
    gold.push_back(named && std::find(sample.gold_regions.begin(), sample.gold_regions.end(),
                                      sample.region_names[at]) != sample.gold_regions.end());
  }
  return gold;
}

}  // namespace

StructureClasses::StructureClasses(const ObservedSample& sample)
    : gold_(gold_positions(sample)),
      evidence_(sample.evidence),
      classes_(static_cast<size_t>(sample.tokens), 0) {
  if (!any(gold_)) gold_.clear();
  if (!any(evidence_)) evidence_.clear();
}

void StructureClasses::at_step(const PositionClasses& classes) {
  for (size_t j = 0; j < classes_.size(); ++j) {
    const TokenType type = classes.type(static_cast<std::int64_t>(j));
    BUOY_CHECK(type != TokenType::kUnknown);
    const std::int64_t kind = is_structural(type) ? kStructural : kStructural + (is_content(type) ? 1 : 2);
    // The first seven classes are the token types in their order.
    std::uint32_t bits = 1u << static_cast<unsigned>(type) | 1u << kind;
    if (!gold_.empty() && gold_[j] != 0) bits |= 1u << kGold;
    if (!evidence_.empty() && evidence_[j] != 0) bits |= 1u << kEvidence;
    classes_[j] = static_cast<std::uint16_t>(bits);
  }
}

std::array<double, kStructureCount> StructureClasses::mass(std::span<const double> received) const {
  std::array<double, kStructureCount> sums{};
  for (size_t j = 0; j < received.size(); ++j) {
    for (unsigned bits = classes_[j]; bits != 0; bits &= bits - 1)
      sums[static_cast<size_t>(std::countr_zero(bits))] += received[j];
  }
  if (gold_.empty()) sums[kGold] = stats::kNan;
  if (evidence_.empty()) sums[kEvidence] = stats::kNan;
  return sums;
}

}  // namespace buoy::analysis
