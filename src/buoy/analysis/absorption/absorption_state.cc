#include "buoy/analysis/absorption/absorption_state.h"

#include <algorithm>
#include <cmath>

#include "buoy/analysis/core/state_fields.h"
#include "buoy/stats/not_a_number.h"

namespace buoy::analysis {
namespace {

std::vector<std::int64_t> groups_named(const SampleFacts& sample, std::string_view part) {
  std::vector<std::int64_t> groups;
  for (size_t g = 0; g < sample.group_names.size(); ++g) {
    if (sample.group_names[g].find(part) != std::string::npos) groups.push_back(static_cast<std::int64_t>(g));
  }
  return groups;
}

size_t largest(std::span<const double> values) {
  return static_cast<size_t>(std::max_element(values.begin(), values.end()) - values.begin());
}

}  // namespace

std::string selector_name(std::int64_t selector, const RuleOptions& options) {
  return selector == kFirstPosition ? "position_0"
                                    : rule_name(kAbsorptionRules[static_cast<size_t>(selector - 1)], options);
}

AbsorptionGrids::AbsorptionGrids(const LayerAxis& axis)
    : cells({axis.size(), kWhens, kViews, kSelectors}),
      step_cells({axis.size(), kStepBins, kViews, kSelectors}),
      head_cells({axis.size(), axis.heads(), kSelectors}),
      half_cells({axis.size(), kViews}) {}

AbsorptionSample::AbsorptionSample(const LayerAxis& axis, const SampleFacts& sample)
    : grids(axis),
      absorbed(grids.cells.size()),
      floors(grids.cells.size()),
      sizes(grids.cells.size()),
      undefined(grids.cells.size()),
      same(grids.half_cells.size()),
      split(grids.half_cells.size()),
      excess(axis, sample),
      kept_step_absorbed(grids.step_cells.size()),
      kept_step_floor(grids.step_cells.size(), false),
      kept_head_absorbed(grids.head_cells.size()),
      kept_head_floor(grids.head_cells.size(), false),
      step_absorbed(grids.step_cells.size()),
      step_floor(grids.step_cells.size()),
      head_absorbed(grids.head_cells.size()),
      head_floor(grids.head_cells.size()),
      even_(groups_named(sample, "even")),
      odd_(groups_named(sample, "odd")) {}

void AbsorptionSample::take(const LayerView& layer) {
  const bool step = layer.forward.is_step;
  const std::int64_t bin = step ? step_bin(layer.sample, layer.s()) : -1;
  const bool is_final = layer.forward.is_final(layer.sample);
  const auto place = [&](std::int64_t h) {
    return Place{layer.l, h < 0 ? kHeadMean : kPerHead, h, bin, is_final};
  };
  for (std::int64_t h = -1; h < layer.sample.heads; ++h) take_vector(place(h), layer.detection());
  excess.take(layer);
  if (!step || even_.empty() || odd_.empty()) return;
  const Received even = layer.received(even_), odd = layer.received(odd_);
  for (std::int64_t h = -1; h < layer.sample.heads; ++h) take_halves(place(h), even.of(h), odd.of(h));
}

void AbsorptionSample::take_vector(const Place& place, Detection& found) {
  const auto received = found.received(place.head);
  take_held(place, {kFirstPosition, received[0], found.null()[0], 1});
  for (size_t r = 0; r < kAbsorptionRules.size(); ++r) {
    const Anchors& anchors = found.anchors(place.head, kAbsorptionRules[r]);
    const auto selector = static_cast<std::int64_t>(r) + 1;
    if (!anchors.defined) {
      take_held(place, {selector, stats::kNan, stats::kNan, stats::kNan});
      continue;
    }
    take_held(place,
              {selector, share_of(anchors.positions, received), share_of(anchors.positions, found.null()),
               static_cast<double>(anchors.positions.size())});
  }
}

void AbsorptionSample::take_held(const Place& place, const Held& held) {
  for (std::int64_t when = 0; when < kWhens; ++when) {
    if (!(when == kFinalRow ? place.final_row : place.bin >= 0)) continue;
    const std::int64_t cell = grids.cells.at({place.layer, when, place.view, held.selector});
    absorbed.add(cell, held.absorbed);
    floors.add(cell, held.floor);
    sizes.add(cell, held.size);
    undefined.add(cell, std::isnan(held.absorbed) ? 1 : 0);
  }
  if (place.bin < 0) return;
  const std::int64_t by_step = grids.step_cells.at({place.layer, place.bin, place.view, held.selector});
  step_absorbed.add(by_step, held.absorbed);
  step_floor.add(by_step, held.floor);
  if (place.view != kPerHead) return;
  const std::int64_t by_head = grids.head_cells.at({place.layer, place.head, held.selector});
  head_absorbed.add(by_head, held.absorbed);
  head_floor.add(by_head, held.floor);
}

// The largest position chosen on one half of the queries is scored on the same half and on the other, both
// ways.
void AbsorptionSample::take_halves(const Place& place, std::span<const double> even,
                                   std::span<const double> odd) {
  const size_t of_even = largest(even), of_odd = largest(odd);
  const std::int64_t cell = grids.half_cells.at({place.layer, place.view});
  same.add(cell, (even[of_even] + odd[of_odd]) / 2);
  split.add(cell, (odd[of_even] + even[of_odd]) / 2);
}

void AbsorptionSample::finish(const ObservedSample& /*sample*/) {
  kept_step_absorbed.take(step_absorbed);
  kept_step_floor.take(step_floor);
  kept_head_absorbed.take(head_absorbed);
  kept_head_floor.take(head_floor);
}

void AbsorptionSample::state(StateArchive& archive) {
  for (auto* moments : {&absorbed, &floors, &sizes, &undefined, &same, &split})
    archive_means(archive, *moments);
  excess.state(archive);
  for (auto* moments : {&kept_step_absorbed, &kept_step_floor, &kept_head_absorbed, &kept_head_floor})
    archive_rounded(archive, *moments);
}

AbsorptionState::AbsorptionState(const LayerAxis& axis, const AnalysisOptions& options)
    : grids(axis),
      absorbed(grids.cells.size(), options.bootstrap),
      floors(grids.cells.size(), options.bootstrap),
      same(grids.half_cells.size(), options.bootstrap),
      split(grids.half_cells.size(), options.bootstrap),
      sizes(grids.cells.size()),
      undefined(grids.cells.size()),
      step_absorbed(grids.step_cells.size()),
      step_floor(grids.step_cells.size()),
      head_absorbed(grids.head_cells.size()),
      head_floor(grids.head_cells.size()),
      depth(kAbsorptionQuantities, options.bootstrap),
      excess(axis, options),
      final_rows(1) {}

void AbsorptionState::add(std::string_view id, const LayerAxis& axis, const AbsorptionSample& of,
                          bool last_is_final) {
  absorbed.add(id, of.absorbed.means());
  floors.add(id, of.floors.means());
  same.add(id, of.same.means());
  split.add(id, of.split.means());
  sizes.add(of.sizes.means());
  undefined.add(of.undefined.means());
  step_absorbed.add(of.kept_step_absorbed);
  step_floor.add(of.kept_step_floor);
  head_absorbed.add(of.kept_head_absorbed);
  head_floor.add(of.kept_head_floor);
  std::vector<double> profiles;
  for (std::int64_t when = 0; when < kWhens; ++when) {
    for (std::int64_t v = 0; v < kViews; ++v) {
      for (std::int64_t selector = 0; selector < kSelectors; ++selector) {
        for (const auto* sums : {&of.absorbed, &of.floors}) {
          for (std::int64_t l = 0; l < axis.size(); ++l)
            profiles.push_back(sums->mean(grids.cells.at({l, when, v, selector})));
        }
      }
    }
  }
  depth.add(id, axis, profiles);
  excess.add(id, axis, of.excess);
  final_rows.add(0, last_is_final ? 1 : 0);
}

}  // namespace buoy::analysis
