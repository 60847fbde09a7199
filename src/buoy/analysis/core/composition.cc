#include "buoy/analysis/core/composition.h"

#include <algorithm>

#include "buoy/stats/not_a_number.h"

namespace buoy::analysis {
namespace {

// Many cells: intervals of a share need no more.
constexpr std::int64_t kMostReplicates = 200;

stats::BootstrapOptions fewer(stats::BootstrapOptions options) {
  options.replicates = std::min(options.replicates, kMostReplicates);
  return options;
}

}  // namespace

CompositionCounts::CompositionCounts(std::int64_t sets)
    : selected_(static_cast<size_t>(sets), 0.0),
      in_class_(static_cast<size_t>(sets * PositionClasses::count()), 0.0),
      chance_(in_class_) {}

void CompositionCounts::count(std::int64_t set, const PositionClasses& classes,
                              const std::vector<std::int32_t>& positions) {
  if (positions.empty()) return;
  const std::int64_t count = PositionClasses::count();
  const auto number = static_cast<double>(positions.size());
  selected_[static_cast<size_t>(set)] += number;
  double* in_class = in_class_.data() + set * count;
  for (const auto j : positions) {
    for (const auto c : classes.of(j)) {
      if (c >= 0) in_class[c] += 1;
    }
  }
  double* chance = chance_.data() + set * count;
  for (size_t c = 0; c < classes.base().size(); ++c) chance[c] += number * classes.base()[c];
}

void CompositionCounts::state(StateArchive& archive) {
  archive.counts(selected_);
  archive.counts(in_class_);
  archive.numbers(chance_);
}

Composition::Composition(std::int64_t sets, const stats::BootstrapOptions& options)
    : classes_(PositionClasses::count()), shares_(sets * classes_, fewer(options)), bases_(sets * classes_) {}

std::vector<double> Composition::add(std::string_view sample_id, const CompositionCounts& sample) {
  std::vector<double> shares(sample.in_class_.size(), stats::kNan), bases(shares);
  for (size_t i = 0; i < shares.size(); ++i) {
    const double selected = sample.selected_[i / static_cast<size_t>(classes_)];
    if (selected <= 0) continue;
    shares[i] = sample.in_class_[i] / selected;
    bases[i] = sample.chance_[i] / selected;
  }
  shares_.add(sample_id, shares);
  bases_.add(bases);
  return shares;
}

CompositionCell Composition::cell(std::int64_t set, std::int64_t position_class) const {
  const std::int64_t at = set * classes_ + position_class;
  CompositionCell cell{shares_.interval(at), bases_.mean(at), 0};
  cell.lift = cell.base > 0 ? cell.share.value / cell.base : stats::kNan;
  return cell;
}

}  // namespace buoy::analysis
