#include "buoy/analysis/absorption/absorption_state.h"

#include <cmath>

namespace buoy::analysis {

std::string selector_name(std::int64_t selector, const RuleOptions& options) {
  return selector == kFirstPosition ? "position_0"
                                    : rule_name(kAbsorptionRules[static_cast<size_t>(selector - 1)], options);
}

AbsorptionState::AbsorptionState(const LayerAxis& axis, const AnalysisOptions& options)
    : cells({axis.size(), kWhens, kViews, kSelectors}),
      step_cells({axis.size(), kStepBins, kViews, kSelectors}),
      head_cells({axis.size(), axis.heads(), kSelectors}),
      half_cells({axis.size(), kViews}),
      sample_absorbed(cells.size()),
      sample_floor(cells.size()),
      sample_size(cells.size()),
      sample_undefined(cells.size()),
      sample_same(half_cells.size()),
      sample_split(half_cells.size()),
      absorbed(cells.size(), options.bootstrap),
      floors(cells.size(), options.bootstrap),
      same(half_cells.size(), options.bootstrap),
      split(half_cells.size(), options.bootstrap),
      sizes(cells.size()),
      undefined(cells.size()),
      step_absorbed(step_cells.size()),
      step_floor(step_cells.size()),
      head_absorbed(head_cells.size()),
      head_floor(head_cells.size()),
      depth(kAbsorptionQuantities, options.bootstrap),
      final_rows(1) {}

void AbsorptionState::take(const Place& place, const Held& held) {
  for (std::int64_t when = 0; when < kWhens; ++when) {
    if (!(when == kFinalRow ? place.final_row : place.bin >= 0)) continue;
    const std::int64_t cell = cells.at({place.layer, when, place.view, held.selector});
    sample_absorbed.add(cell, held.absorbed);
    sample_floor.add(cell, held.floor);
    sample_size.add(cell, held.size);
    sample_undefined.add(cell, std::isnan(held.absorbed) ? 1 : 0);
  }
  if (place.bin < 0) return;
  const std::int64_t by_step = step_cells.at({place.layer, place.bin, place.view, held.selector});
  step_absorbed.add(by_step, held.absorbed);
  step_floor.add(by_step, held.floor);
  if (place.view != kPerHead) return;
  const std::int64_t by_head = head_cells.at({place.layer, place.head, held.selector});
  head_absorbed.add(by_head, held.absorbed);
  head_floor.add(by_head, held.floor);
}

void AbsorptionState::take_halves(const Place& place, double same_rows, double other_rows) {
  sample_same.add(half_cells.at({place.layer, place.view}), same_rows);
  sample_split.add(half_cells.at({place.layer, place.view}), other_rows);
}

void AbsorptionState::add_sample(std::string_view id, const LayerAxis& axis, bool last_is_final) {
  absorbed.add(id, sample_absorbed.means());
  floors.add(id, sample_floor.means());
  same.add(id, sample_same.means());
  split.add(id, sample_split.means());
  sizes.add(sample_size.means());
  undefined.add(sample_undefined.means());
  std::vector<double> profiles;
  for (std::int64_t when = 0; when < kWhens; ++when) {
    for (std::int64_t v = 0; v < kViews; ++v) {
      for (std::int64_t selector = 0; selector < kSelectors; ++selector) {
        for (const auto* of : {&sample_absorbed, &sample_floor}) {
          for (std::int64_t l = 0; l < axis.size(); ++l)
            profiles.push_back(of->mean(cells.at({l, when, v, selector})));
        }
      }
    }
  }
  depth.add(id, axis, profiles);
  final_rows.add(0, last_is_final ? 1 : 0);
  for (auto* moments :
       {&sample_absorbed, &sample_floor, &sample_size, &sample_undefined, &sample_same, &sample_split})
    moments->reset();
}

}  // namespace buoy::analysis
