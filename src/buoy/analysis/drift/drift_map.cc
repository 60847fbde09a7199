#include "buoy/analysis/drift/drift_map.h"

#include <fmt/format.h>

#include <algorithm>
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

std::int64_t map_stride(std::int64_t tokens, std::int64_t steps) {
  const std::int64_t most =
      std::max<std::int64_t>(schema::kMostMapCells / std::max<std::int64_t>(tokens, 1), 1);
  return std::max<std::int64_t>((steps + most - 1) / most, 1);
}

DriftPanels::DriftPanels(const SampleFacts& sample, const LayerAxis& axis, const AnalysisOptions& options)
    : head_(options.head),
      tokens_(sample.tokens),
      steps_(std::ssize(sample.steps)),
      stride_(map_stride(tokens_, steps_)) {
  if (head_ >= sample.heads) {
    throw_usage_error({"head", fmt::format("a head below {}", sample.heads), std::to_string(head_)});
  }
  for (std::int64_t s = 0; s < steps_; ++s) keys_.push_back(sample.reach_at(s).end);
  std::set<std::int64_t> layers = {0, axis.size() / 2, axis.size() - 1};
  if (options.layer >= 0) layers = {axis.index_of(options.layer)};
  for (const auto l : layers) layers_[l].resize(sample.steps.size());
}

void DriftPanels::take(const LayerView& layer) {
  const auto panel = layers_.find(layer.l);
  if (panel == layers_.end() || !layer.forward.is_step) return;
  Detection& found = layer.detection();
  Step& now = panel->second[static_cast<size_t>(layer.s())];
  now = {{},
         found.anchors(head_, Rule::kThreeSigma),
         found.top(head_),
         found.top_share(head_),
         found.margin(head_)};
  if (!is_in_map(layer.s())) return;
  const auto share = found.received(head_);
  now.share.assign(share.begin(), share.end());
}

void DriftPanels::state(StateArchive& archive) {
  for (auto& [l, steps] : layers_) {
    for (std::int64_t s = 0; s < steps_; ++s) {
      Step& step = steps[static_cast<size_t>(s)];
      step.share.resize(is_in_map(s) ? static_cast<size_t>(keys_[static_cast<size_t>(s)]) : 0);
      archive.numbers(step.share);
      archive.flag(step.anchors.defined);
      archive.flag(step.anchors.fired);
      archive.length(step.anchors.positions, tokens_);
      archive.integers(step.anchors.positions, 0, tokens_ - 1);
      archive.number(step.top, 0, tokens_ - 1);
      archive.number(step.top_share);
      archive.number(step.margin);
    }
  }
}

DriftMap::DriftMap(const AnalysisOptions& options)
    : head_(std::max<std::int64_t>(options.head, -1)),
      map_(map_table(rule_text(options))),
      path_(schema::drift_path),
      tracks_(tracks_table(rule_text(options))),
      blocks_(schema::drift_blocks) {}

void DriftMap::draw(const ObservedSample& sample, const LayerAxis& axis, const DriftPanels& panels) {
  const Frontier frontier = frontier_of(sample);
  for (const auto& [l, steps] : panels.layers()) draw_layer({sample, frontier, axis.number(l), steps});
  if (sample.blocks) add_blocks(sample);
}

// In the order in which they are denoised.
void DriftMap::add_blocks(const ObservedSample& sample) {
  const auto& t = schema::drift_blocks;
  std::int64_t number = 0;
  for (std::int64_t s = 0; s < sample.step_count();) {
    const Reach reach = sample.reach_at(s);
    const std::int64_t first = s;
    while (s < sample.step_count() && sample.reach_at(s) == reach) ++s;
    if (!sample.blocks->denoises(sample.place_of(first))) return;  // the look at the final row alone
    blocks_.add({{t.sample, sample.id()},
                 {t.block, number++},
                 {t.begin, reach.first},
                 {t.end, reach.end},
                 {t.first_step, std::int64_t{sample.steps[static_cast<size_t>(first)]}},
                 {t.steps, s - first}});
  }
}

void DriftMap::draw_layer(const Panel& panel) {
  const ObservedSample& sample = panel.sample;
  const auto& m = schema::drift_map;
  const auto& p = schema::drift_path;
  const Cell head = head_ < 0 ? Cell("mean") : Cell(head_);
  for (std::int64_t s = 0; s < sample.step_count(); ++s) {
    const DriftPanels::Step& now = panel.steps[static_cast<size_t>(s)];
    const std::int64_t step = sample.steps[static_cast<size_t>(s)];
    const auto& positions = now.anchors.positions;
    for (std::int64_t j = 0; j < std::ssize(now.share); ++j) {
      const bool floating =
          std::binary_search(positions.begin(), positions.end(), static_cast<std::int32_t>(j));
      map_.add({{m.sample, sample.id()},
                {m.layer, panel.number},
                {m.head, head},
                {m.step, step},
                {m.position, j},
                {m.received, number_cell(now.share[static_cast<size_t>(j)])},
                {m.floating, now.anchors.defined ? Cell(std::int64_t{floating}) : Cell()},
                {m.masked, std::int64_t{sample.masked_at(s, j)}},
                {m.token, token_text(sample, j)}});
    }
    const auto of_step = [&](const std::vector<double>& values) {
      return sample.masked_diffusion ? number_cell(values[static_cast<size_t>(s)]) : Cell();
    };
    path_.add({{p.sample, sample.id()},
               {p.layer, panel.number},
               {p.head, head},
               {p.step, step},
               {p.position, now.top},
               {p.received, number_cell(now.top_share)},
               {p.margin, number_cell(now.margin)},
               {p.masked, std::int64_t{sample.masked_at(s, now.top)}},
               {p.frontier, of_step(panel.frontier.leading)},
               {p.committed, of_step(panel.frontier.committed)},
               {p.token, token_text(sample, now.top)}});
  }
  add_tracks(panel);
}

void DriftMap::add_tracks(const Panel& panel) {
  const ObservedSample& sample = panel.sample;
  std::vector<std::vector<std::int32_t>> sets;
  for (const auto& now : panel.steps) sets.push_back(now.anchors.positions);
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
