#include "buoy/analysis/drift/drift_map.h"

#include <fmt/format.h>

#include <set>
#include <string>

#include "buoy/analysis/drift/anchor_tracks.h"
#include "buoy/base/error.h"
#include "buoy/result/schema/drift.h"

namespace buoy::analysis {
namespace {

std::string rule_text(const AnalysisOptions& options) {
  const RuleOptions rules{options.epsilon, options.share_factor, options.mad_factor};
  return fmt::format("{}, {}", rule_name(Rule::kThreeSigma, rules), estimator_name(Rule::kThreeSigma, rules));
}

Table map_table(const std::string& rule) {
  Table table(schema::drift_map);
  table.title =
      fmt::format("Received attention by step and position of one sample, floating cells marked ({})", rule);
  table.explain(schema::drift_map.floating,
                fmt::format("1: selected by {}; nothing: rows too short for it", rule));
  return table;
}

Table tracks_table(const std::string& rule) {
  Table table(schema::drift_tracks);
  table.title = fmt::format(
      "Tracks of the anchors of one sample ({}): born when a position enters the set, moved when one leaves "
      "as another enters (nearest first), dead when it leaves",
      rule);
  return table;
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
      path_(schema::drift_path),
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
  const auto& m = schema::drift_map;
  const auto& p = schema::drift_path;
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
          {{m.sample, sample.id()},
           {m.layer, panel.number},
           {m.head, head},
           {m.step, step},
           {m.position, j},
           {m.received, number_cell(share[static_cast<size_t>(j)])},
           {m.floating,
            anchors.defined ? Cell(std::int64_t{floating.contains(static_cast<std::int32_t>(j))}) : Cell()},
           {m.masked, std::int64_t{sample.masked_at(s, j)}},
           {m.token, token_text(sample, j)}});
    }
    const std::int64_t top = detector.top();
    const auto of_step = [&](const std::vector<double>& values) {
      return sample.masked_diffusion ? number_cell(values[static_cast<size_t>(s)]) : Cell();
    };
    path_.add({{p.sample, sample.id()},
               {p.layer, panel.number},
               {p.head, head},
               {p.step, step},
               {p.position, top},
               {p.received, number_cell(detector.top_share())},
               {p.margin, number_cell(detector.margin())},
               {p.masked, std::int64_t{sample.masked_at(s, top)}},
               {p.frontier, of_step(panel.frontier.leading)},
               {p.committed, of_step(panel.frontier.committed)},
               {p.token, token_text(sample, top)}});
  }
  add_tracks(panel, sets);
}

void DriftMap::add_tracks(const Panel& panel, const std::vector<std::vector<std::int32_t>>& sets) {
  const ObservedSample& sample = panel.sample;
  const auto step = [&](std::int32_t s) { return std::int64_t{sample.steps[static_cast<size_t>(s)]}; };
  const auto& t = schema::drift_tracks;
  std::int64_t number = 0;
  for (const auto& track : anchor_tracks(sets)) {
    std::string path;
    for (const auto& stay : track.stays)
      path += fmt::format("{}{}:{}-{}", path.empty() ? "" : " ", stay.position, step(stay.first),
                          step(stay.last));
    tracks_.add({{t.sample, sample.id()},
                 {t.layer, panel.number},
                 {t.head, head_ < 0 ? Cell("mean") : Cell(head_)},
                 {t.track, number++},
                 {t.birth, step(track.birth())},
                 {t.death, step(track.death())},
                 {t.from, std::int64_t{track.stays.front().position}},
                 {t.to, std::int64_t{track.stays.back().position}},
                 {t.moves, static_cast<std::int64_t>(track.stays.size()) - 1},
                 {t.distance, track.distance()},
                 {t.path, path},
                 {t.token, token_text(sample, track.stays.back().position)}});
  }
}

}  // namespace buoy::analysis
