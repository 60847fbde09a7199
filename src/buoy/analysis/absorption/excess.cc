#include "buoy/analysis/absorption/excess.h"

#include <algorithm>

#include "buoy/analysis/absorption/absorption_state.h"
#include "buoy/analysis/core/state_fields.h"
#include "buoy/analysis/core/uniform.h"
#include "buoy/analysis/sample/answer_span.h"
#include "buoy/stats/not_a_number.h"

namespace buoy::analysis {

ExcessScale::ExcessScale(const Reach& reach, std::int64_t first, std::int64_t end)
    : floor_(uniform_received_between(reach, first, end)), seen_(seen_between(reach, first, end)) {}

double ExcessScale::of(std::int64_t position, double share) const {
  const auto j = static_cast<size_t>(position);
  const double room = seen_[j] - floor_[j];
  return room > 0 ? (share - floor_[j]) / room : stats::kNan;
}

stats::Grid excess_cells(const LayerAxis& axis) {
  return stats::Grid({axis.size(), kWhens, kViews, kExcessQueries, kExcessSets});
}

ExcessSample::ExcessSample(const LayerAxis& axis, const SampleFacts& sample)
    : cells(excess_cells(axis)), excess(cells.size()), answer_groups_(answer_groups(sample)) {
  if (!sample.blocks) of_all_.emplace(sample.mask, sample.tokens, 0, sample.tokens);
}

void ExcessSample::take(const LayerView& layer) {
  const auto& sample = layer.sample;
  const auto take_all = [&](ExcessQueries queries, const ExcessScale& scale, const Received& received) {
    for (std::int64_t h = -1; h < sample.heads; ++h) take_vector({layer, queries, h}, scale, received.of(h));
  };
  const Reach& reach = layer.forward.reach;
  take_all(ExcessQueries::kAll, of_all_ ? *of_all_ : ExcessScale(reach, reach.first, reach.end),
           layer.received());
  // Up to the end of the answer as far as it is known.
  const auto [first, end] = answer_rows(sample, layer.forward.answer_end, layer.forward.group_sizes, reach);
  if (first == end) return;
  take_all(ExcessQueries::kAnswer, ExcessScale(reach, first, end), layer.received(answer_groups_));
}

void ExcessSample::take_vector(const Place& place, const ExcessScale& scale,
                               std::span<const double> received) {
  const LayerView& layer = place.layer;
  const auto top = std::max_element(received.begin(), received.end()) - received.begin();
  const std::array<std::int64_t, kExcessSelectors.size()> positions = {0, top};
  for (std::int64_t when = 0; when < kWhens; ++when) {
    if (!(when == kFinalRow ? layer.forward.is_final(layer.sample) : layer.forward.is_step)) continue;
    for (std::int64_t selector = 0; selector < kExcessSets; ++selector) {
      const std::int64_t position = positions[static_cast<size_t>(selector)];
      excess.add(cells.at({layer.l, when, place.head < 0 ? kHeadMean : kPerHead,
                           static_cast<std::int64_t>(place.queries), selector}),
                 scale.of(position, received[static_cast<size_t>(position)]));
    }
  }
}

void ExcessSample::state(StateArchive& archive) {
  archive_means(archive, excess);
}

ExcessState::ExcessState(const LayerAxis& axis, const AnalysisOptions& options)
    : cells(excess_cells(axis)),
      by_layer(cells.size(), options.bootstrap),
      depth(cells.size() / axis.size(), options.bootstrap) {}

void ExcessState::add(std::string_view id, const LayerAxis& axis, const ExcessSample& of) {
  by_layer.add(id, of.excess.means());
  const std::int64_t quantities = cells.size() / axis.size();
  std::vector<double> profiles;
  stats::Moments over_layers(quantities);
  for (std::int64_t q = 0; q < quantities; ++q) {
    for (std::int64_t l = 0; l < axis.size(); ++l) {
      profiles.push_back(of.excess.mean(l * quantities + q));
      over_layers.add(q, profiles.back());
    }
  }
  depth.add(id, axis, profiles);
  of_samples.emplace(id, over_layers.means());
}

}  // namespace buoy::analysis
