#include "buoy/analysis/drift/drift_map.h"

#include <fmt/format.h>

#include <set>
#include <string>

#include "buoy/analysis/drift/anchor_tracks.h"
#include "buoy/base/error.h"

namespace buoy::analysis {
namespace {

const std::string kHeadText = "mean: heads averaged (published), or the number of the head";

std::string rule_text(const AnalysisOptions& options) {
  const RuleOptions rules{options.epsilon, options.share_factor, options.mad_factor};
  return fmt::format("{}, {}", rule_name(Rule::kThreeSigma, rules), estimator_name(Rule::kThreeSigma, rules));
}

Table map_table(const std::string& rule) {
  return {
      "drift_map",
      fmt::format("Received attention by step and position of one sample, floating cells marked ({})", rule),
      {{"sample", "id of the sample"},
       {"layer", "layer of the model"},
       {"head", kHeadText},
       {"step", "denoising step"},
       {"position", "position in the row"},
       {"received", "share of received attention, of 1"},
       {"floating", fmt::format("1: selected by {}; nothing: rows too short for it", rule)},
       {"masked", "1: still masked when this step's forward ran"},
       {"token", "text of the token in the final row; empty when the trace has none"}},
      {}};
}

Table path_table() {
  return {"drift_path",
          "The position of the largest received attention at every step of one sample, beside the unmasking "
          "frontier",
          {{"sample", "id of the sample"},
           {"layer", "layer of the model"},
           {"head", kHeadText},
           {"step", "denoising step"},
           {"position", "the largest, the first of equal ones"},
           {"received", "its share of received attention, of 1"},
           {"margin", "over the second largest"},
           {"masked", "1: the position was still masked"},
           {"frontier", "leading generated slots already unmasked"},
           {"committed", "mean position of the tokens revealed by this step"},
           {"token", "text of the token in the final row"}},
          {}};
}

Table tracks_table(const std::string& rule) {
  return {"drift_tracks",
          fmt::format("Tracks of the anchors of one sample ({}): born when a position enters the set, moved "
                      "when one leaves as another enters (nearest first), dead when it leaves",
                      rule),
          {{"sample", "id of the sample"},
           {"layer", "layer of the model"},
           {"head", kHeadText},
           {"track", "number of the track within the layer, by birth"},
           {"birth", "first step in the set"},
           {"death", "last step in the set"},
           {"from", "position at birth"},
           {"to", "position at death"},
           {"moves", "changes of position"},
           {"distance", "positions moved in total"},
           {"path", "position:first step-last step, for every stay"},
           {"token", "text of the token at death in the final row"}},
          {}};
}

std::string token_text(const ObservedSample& sample, std::int64_t position) {
  const auto at = static_cast<size_t>(position);
  return at < sample.token_texts.size() ? sample.token_texts[at] : "";
}

}  // namespace

DriftMap::DriftMap(const AnalysisOptions& options)
    : layer_(options.layer),
      head_(options.head),
      map_(map_table(rule_text(options))),
      path_(path_table()),
      tracks_(tracks_table(rule_text(options))) {}

void DriftMap::draw(const ObservedSample& sample, const LayerAxis& axis, AnchorDetector& detector) {
  if (head_ >= sample.heads) {
    throw_usage_error({"head", fmt::format("a head below {}", sample.heads), std::to_string(head_)});
  }
  const Frontier frontier = frontier_of(sample);
  std::set<std::int64_t> layers = {0, axis.size() / 2, axis.size() - 1};
  if (layer_ >= 0) layers = {axis.index_of(layer_)};
  for (const auto l : layers) draw_layer({sample, frontier, l, axis.number(l)}, detector);
}

void DriftMap::draw_layer(const Panel& panel, AnchorDetector& detector) {
  const ObservedSample& sample = panel.sample;
  const Cell head = head_ < 0 ? Cell("mean") : Cell(head_);
  std::vector<std::vector<std::int32_t>> sets;
  Anchors anchors;
  for (std::int64_t s = 0; s < sample.step_count(); ++s) {
    const Received received = sample.received(s, panel.layer);
    const std::span<const double> share(head_ < 0 ? received.mean.data() : received.head(head_),
                                        received.mean.size());
    detector.look(share);
    detector.find(Rule::kThreeSigma, anchors);
    sets.push_back(anchors.positions);
    const std::int64_t step = sample.steps[static_cast<size_t>(s)];
    const std::set<std::int32_t> floating(anchors.positions.begin(), anchors.positions.end());
    for (std::int64_t j = 0; j < sample.tokens; ++j) {
      map_.add(
          {sample.id(), panel.number, head, step, j, number_cell(share[static_cast<size_t>(j)]),
           anchors.defined ? Cell(std::int64_t{floating.contains(static_cast<std::int32_t>(j))}) : Cell(),
           std::int64_t{sample.masked_at(s, j)}, token_text(sample, j)});
    }
    const std::int64_t top = detector.top();
    path_.add(
        {sample.id(), panel.number, head, step, top, number_cell(detector.top_share()),
         number_cell(detector.margin()), std::int64_t{sample.masked_at(s, top)},
         sample.masked_diffusion ? number_cell(panel.frontier.leading[static_cast<size_t>(s)]) : Cell(),
         sample.masked_diffusion ? number_cell(panel.frontier.committed[static_cast<size_t>(s)]) : Cell(),
         token_text(sample, top)});
  }
  add_tracks(panel, sets);
}

void DriftMap::add_tracks(const Panel& panel, const std::vector<std::vector<std::int32_t>>& sets) {
  const ObservedSample& sample = panel.sample;
  const auto step = [&](std::int32_t s) { return std::int64_t{sample.steps[static_cast<size_t>(s)]}; };
  std::int64_t number = 0;
  for (const auto& track : anchor_tracks(sets)) {
    std::string path;
    for (const auto& stay : track.stays)
      path += fmt::format("{}{}:{}-{}", path.empty() ? "" : " ", stay.position, step(stay.first),
                          step(stay.last));
    tracks_.add({sample.id(), panel.number, head_ < 0 ? Cell("mean") : Cell(head_), number++,
                 step(track.birth()), step(track.death()), std::int64_t{track.stays.front().position},
                 std::int64_t{track.stays.back().position}, static_cast<std::int64_t>(track.stays.size()) - 1,
                 track.distance(), path, token_text(sample, track.stays.back().position)});
  }
}

}  // namespace buoy::analysis
