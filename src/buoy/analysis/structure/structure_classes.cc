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

std::vector<std::uint8_t> gold_positions(const SampleFacts& sample) {
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

AnswerPlaces::AnswerPlaces(const SampleFacts& sample)
    : gold(gold_positions(sample)), evidence(sample.evidence) {
  if (!any(gold)) gold.clear();
  if (!any(evidence)) evidence.clear();
}

StructureClasses::StructureClasses(const AnswerPlaces& places, std::span<const TokenType> types)
    : has_gold_(!places.gold.empty()), has_evidence_(!places.evidence.empty()), classes_(types.size(), 0) {
  for (size_t j = 0; j < classes_.size(); ++j) {
    const TokenType type = types[j];
    BUOY_CHECK(type != TokenType::kUnknown);
    const std::int64_t kind = is_structural(type) ? kStructural : kStructural + (is_content(type) ? 1 : 2);
    // The first seven classes are the token types in their order.
    std::uint32_t bits = 1u << static_cast<unsigned>(type) | 1u << kind;
    if (has_gold_ && places.gold[j] != 0) bits |= 1u << kGold;
    if (has_evidence_ && places.evidence[j] != 0) bits |= 1u << kEvidence;
    classes_[j] = static_cast<std::uint16_t>(bits);
  }
}

std::array<double, kStructureCount> StructureClasses::mass(std::span<const double> received) const {
  std::array<double, kStructureCount> sums{};
  for (size_t j = 0; j < received.size(); ++j) {
    for (unsigned bits = classes_[j]; bits != 0; bits &= bits - 1)
      sums[static_cast<size_t>(std::countr_zero(bits))] += received[j];
  }
  if (!has_gold_) sums[kGold] = stats::kNan;
  if (!has_evidence_) sums[kEvidence] = stats::kNan;
  return sums;
}

}  // namespace buoy::analysis
