#include "buoy/analysis/structure/structure_state.h"

#include <limits>

#include "buoy/analysis/core/state_fields.h"
#include "buoy/analysis/core/uniform.h"
#include "buoy/analysis/sample/answer_span.h"

namespace buoy::analysis {
namespace {

// What does not exist yet receives nothing.
std::vector<double> over_row(std::vector<double> keys, std::int64_t tokens) {
  keys.resize(static_cast<size_t>(tokens), 0.0);
  return keys;
}

}  // namespace

StructureGrids::StructureGrids(const LayerAxis& axis)
    : cells({axis.size(), kQuerySets, kStructureCount}),
      head_cells({axis.size(), axis.heads(), kLiftClasses}),
      sets({axis.size(), static_cast<std::int64_t>(kStructureRules.size()), kViews}) {}

StructureSample::StructureSample(const LayerAxis& axis, const SampleFacts& sample)
    : grids(axis),
      shares(grids.cells.size()),
      bases(grids.cells.size()),
      kept_head_shares(grids.head_cells.size()),
      kept_head_bases(grids.head_cells.size(), false),
      composition(grids.sets.size()),
      head_shares(grids.head_cells.size()),
      head_bases(grids.head_cells.size()),
      places_(sample),
      answer_groups_(answer_groups(sample)) {}

void StructureSample::take(const LayerView& layer) {
  if (!layer.forward.is_step) return;
  const StructureClasses sums(places_, layer.forward.types);
  const Reach& reach = layer.forward.reach;
  const auto base = sums.mass(over_row(uniform_received(reach), layer.sample.tokens));
  const Received& received = layer.received();
  add_mass(grids.cells.at({layer.l, kAllQueries, 0}), sums.mass(received.mean), base);
  const auto by_head = sums.masses(received.share);
  for (std::int64_t h = 0; h < layer.sample.heads; ++h)
    add_head(grids.head_cells.at({layer.l, h, 0}), by_head[static_cast<size_t>(h)], base);
  count_floating(layer);
  add_answer(layer, sums);
}

// The rows that write the answer, up to its end as far as it is known; there may be none.
void StructureSample::add_answer(const LayerView& layer, const StructureClasses& sums) {
  const auto& sample = layer.sample;
  const auto [first, end] =
      answer_rows(sample, layer.forward.answer_end, layer.forward.group_sizes, layer.forward.reach);
  if (first == end) return;
  add_mass(grids.cells.at({layer.l, kAnswerQueries, 0}), sums.mass(layer.received(answer_groups_).mean),
           sums.mass(over_row(uniform_received_between(layer.forward.reach, first, end), sample.tokens)));
}

void StructureSample::add_mass(std::int64_t first_cell, const Masses& share, const Masses& base) {
  for (std::int64_t c = 0; c < kStructureCount; ++c) {
    shares.add(first_cell + c, share[static_cast<size_t>(c)]);
    bases.add(first_cell + c, base[static_cast<size_t>(c)]);
  }
}

void StructureSample::add_head(std::int64_t first_cell, const Masses& share, const Masses& base) {
  for (std::int64_t c = 0; c < kLiftClasses; ++c) {
    head_shares.add(first_cell + c, share[static_cast<size_t>(kStructural + c)]);
    head_bases.add(first_cell + c, base[static_cast<size_t>(kStructural + c)]);
  }
}

void StructureSample::count_floating(const LayerView& layer) {
  for (std::int64_t h = -1; h < layer.sample.heads; ++h) {
    for (size_t r = 0; r < kStructureRules.size(); ++r) {
      composition.count(grids.sets.at({layer.l, static_cast<std::int64_t>(r), h < 0 ? kHeadMean : kPerHead}),
                        layer.forward.classes, layer.detection().anchors(h, kStructureRules[r]).positions);
    }
  }
}

void StructureSample::finish(const ObservedSample& /*sample*/) {
  kept_head_shares.take(head_shares);
  kept_head_bases.take(head_bases);
}

void StructureSample::state(StateArchive& archive) {
  for (auto* moments : {&shares, &bases}) archive_means(archive, *moments);
  for (auto* moments : {&kept_head_shares, &kept_head_bases}) archive_rounded(archive, *moments);
  composition.state(archive);
}

StructureState::StructureState(const LayerAxis& axis, const AnalysisOptions& options)
    : grids(axis),
      shares(grids.cells.size(), options.bootstrap),
      bases(grids.cells.size(), options.bootstrap),
      head_shares(grids.head_cells.size()),
      head_bases(grids.head_cells.size()),
      composition(grids.sets.size(), options.bootstrap),
      depth(kStructureQuantities, options.bootstrap) {}

void StructureState::add(std::string_view id, const LayerAxis& axis, const StructureSample& of) {
  shares.add(id, of.shares.means());
  bases.add(id, of.bases.means());
  head_shares.add(of.kept_head_shares);
  head_bases.add(of.kept_head_bases);
  std::vector<double> profiles;
  for (std::int64_t queries = 0; queries < kQuerySets; ++queries) {
    for (std::int64_t c = kStructural; c < kStructureCount; ++c) {
      for (std::int64_t l = 0; l < axis.size(); ++l) {
        const std::int64_t cell = grids.cells.at({l, queries, c});
        const double base = of.bases.mean(cell);
        profiles.push_back(base > 0 ? of.shares.mean(cell) / base : std::numeric_limits<double>::quiet_NaN());
      }
    }
  }
  const auto composed = composition.add(id, of.composition);
  for (std::int64_t set = 0; set < kFloatingSets; ++set) {
    for (const auto kind : kKindNames) {
      const std::int64_t c = PositionClasses::find("kind", kind);
      for (std::int64_t l = 0; l < axis.size(); ++l)
        profiles.push_back(
            composed[static_cast<size_t>((l * kFloatingSets + set) * PositionClasses::count() + c)]);
    }
  }
  depth.add(id, axis, profiles);
}

}  // namespace buoy::analysis
