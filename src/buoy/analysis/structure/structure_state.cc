#include "buoy/analysis/structure/structure_state.h"

#include <limits>

namespace buoy::analysis {

StructureState::StructureState(const LayerAxis& axis, const AnalysisOptions& options)
    : cells({axis.size(), kQuerySets, kStructureCount}),
      head_cells({axis.size(), axis.heads(), kLiftClasses}),
      sets({axis.size(), static_cast<std::int64_t>(kStructureRules.size()), kViews}),
      sample_share(cells.size()),
      sample_base(cells.size()),
      shares(cells.size(), options.bootstrap),
      bases(cells.size(), options.bootstrap),
      head_shares(head_cells.size()),
      head_bases(head_cells.size()),
      composition(sets.size(), options.bootstrap),
      depth(kStructureQuantities, options.bootstrap) {}

void StructureState::add_sample(std::string_view id, const LayerAxis& axis) {
  shares.add(id, sample_share.means());
  bases.add(id, sample_base.means());
  std::vector<double> profiles;
  for (std::int64_t queries = 0; queries < kQuerySets; ++queries) {
    for (std::int64_t c = kStructural; c < kStructureCount; ++c) {
      for (std::int64_t l = 0; l < axis.size(); ++l) {
        const std::int64_t cell = cells.at({l, queries, c});
        const double base = sample_base.mean(cell);
        profiles.push_back(base > 0 ? sample_share.mean(cell) / base
                                    : std::numeric_limits<double>::quiet_NaN());
      }
    }
  }
  const auto composed = composition.end_sample(id);
  for (std::int64_t set = 0; set < kFloatingSets; ++set) {
    for (const auto kind : kKindNames) {
      const std::int64_t c = PositionClasses::find("kind", kind);
      for (std::int64_t l = 0; l < axis.size(); ++l)
        profiles.push_back(
            composed[static_cast<size_t>((l * kFloatingSets + set) * PositionClasses::count() + c)]);
    }
  }
  depth.add(id, axis, profiles);
  sample_share.reset();
  sample_base.reset();
}

}  // namespace buoy::analysis
