#include "buoy/analysis/structure/structure_classes.h"

#include <algorithm>

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
    : has_gold_(!places.gold.empty()), has_evidence_(!places.evidence.empty()), tokens_(std::ssize(types)) {
  for (std::int64_t j = 0; j < tokens_; ++j) {
    const auto at = static_cast<size_t>(j);
    const TokenType type = types[at];
    BUOY_CHECK(type != TokenType::kUnknown);
    const auto add = [&](std::int64_t to) {
      positions_[static_cast<size_t>(to)].push_back(static_cast<std::int32_t>(j));
    };
    add(static_cast<std::int64_t>(type));  // the first eight classes are the token types in their order
    add(is_structural(type) ? kStructural
                            : kStructural + (is_content(type)           ? 1
                                             : type == TokenType::kMask ? 2
                                                                        : 3));
    if (has_gold_ && places.gold[at] != 0) add(kGold);
    if (has_evidence_ && places.evidence[at] != 0) add(kEvidence);
  }
}

// Several vectors at once: each sum waits for its last addition, those of other vectors need not.
template <size_t kVectors>
void StructureClasses::add_up(const double* received, Masses* sums) const {
  for (size_t c = 0; c < positions_.size(); ++c) {
    std::array<double, kVectors> sum{};
    for (const auto j : positions_[c]) {
      for (size_t v = 0; v < kVectors; ++v) sum[v] += received[static_cast<std::int64_t>(v) * tokens_ + j];
    }
    for (size_t v = 0; v < kVectors; ++v) sums[v][c] = sum[v];
  }
  for (size_t v = 0; v < kVectors; ++v) {
    if (!has_gold_) sums[v][kGold] = stats::kNan;
    if (!has_evidence_) sums[v][kEvidence] = stats::kNan;
  }
}

StructureClasses::Masses StructureClasses::mass(std::span<const double> received) const {
  return masses(received).front();
}

std::vector<StructureClasses::Masses> StructureClasses::masses(std::span<const double> received) const {
  constexpr std::int64_t kAtOnce = 8;
  const std::int64_t vectors = std::ssize(received) / tokens_;
  BUOY_CHECK(vectors * tokens_ == std::ssize(received));
  std::vector<Masses> out(static_cast<size_t>(vectors));
  std::int64_t v = 0;
  for (; v + kAtOnce <= vectors; v += kAtOnce) add_up<kAtOnce>(received.data() + v * tokens_, out.data() + v);
  for (; v < vectors; ++v) add_up<1>(received.data() + v * tokens_, out.data() + v);
  return out;
}

}  // namespace buoy::analysis
