#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "buoy/analysis/core/analysis.h"
#include "buoy/analysis/core/extent.h"
#include "buoy/analysis/core/scratch_pool.h"
#include "buoy/analysis/floating/floating_rules.h"
#include "buoy/analysis/qk/qk_maps.h"
#include "buoy/analysis/qk/qk_published.h"
#include "buoy/analysis/qk/qk_sums.h"
#include "buoy/base/error.h"
#include "buoy/trace/schema.h"

namespace buoy::analysis {
namespace {

// The columns that float at one step and layer by one way to choose them, for one head.
struct FloatingSet {
  std::span<const std::int32_t> positions;
  std::int64_t strongest = -1;  // most attended of them
};

FloatingSet floating_set(Detection& found, std::int64_t head, Rule rule) {
  const Anchors& anchors = found.anchors(head, rule);
  FloatingSet out;
  if (!anchors.defined) return out;
  out.positions = anchors.positions;
  const auto shares = found.received(head);
  for (const auto j : anchors.positions) {
    if (out.strongest < 0 || shares[static_cast<size_t>(j)] > shares[static_cast<size_t>(out.strongest)])
      out.strongest = j;
  }
  return out;
}

FloatingSet floating_set(Detection& found, std::int64_t head, std::int64_t way) {
  switch (way) {
    case kThreeSigmaMean:
      return floating_set(found, -1, Rule::kThreeSigma);
    case kTopOne:
      return floating_set(found, head, Rule::kTop1);
    case kThreeSigmaLift:
      return floating_set(found, head, Rule::kThreeSigmaLift);
    default:
      return floating_set(found, head, Rule::kThreeSigma);
  }
}

// The sums of one sample; of the one that is drawn, also its maps.
class QkSample final : public SampleAnalysis {
 public:
  QkSample(const QkGrid& grid, const SampleFacts& sample, ScratchPool<QkColumns>& scratch)
      : sums(grid, sample),
        scratch_(scratch),
        extent_{sample.tokens, sample.reach_at(sample.step_count() - 1), sample.heads, sample.kv_heads,
                sample.head_dim},
        layers_(sample.layers.size()) {}

  // Its maps, should it be drawn, or have been when its state was written.
  void can_draw(const SampleFacts& sample, const QkMaps& maps) {
    make_maps_ = [this, &sample, &maps] {
      maps_ = &maps;
      panel = maps.panel_of(sample);
      published.resize(layers_);
    };
  }
  void draw() { make_maps_(); }

  void take(const LayerView& layer) override {
    if (!layer.forward.is_step) return;
    const auto columns = scratch_.take();
    columns->read(layer);
    const SliceOfSample slice{layer.s(), layer.layer()};
    sums.add_rotation(slice, *columns);
    // In a bidirectional layer even attention is flat, and the lift chooses the same columns.
    const std::int64_t ways = layer.sample.mask.causal ? kWays : kThreeSigmaLift;
    for (std::int64_t h = 0; h < layer.sample.heads; ++h) {
      for (const auto stage : {kAfterRotation, kBeforeRotation}) {
        const ColumnMeans means = columns->of(stage, h);
        const ColumnTotals totals(means);
        for (std::int64_t way = 0; way < ways; ++way) {
          const auto set = floating_set(layer.detection(), h, way);
          sums.add(slice, {h, way, stage}, contrast(means, totals, set.positions, set.strongest));
        }
      }
    }
    if (maps_ == nullptr || layer.s() + 1 != layer.sample.step_count()) return;
    maps_->keep(layer, *columns, panel);
    published[static_cast<size_t>(layer.l)] = QkPublished::panel_of(layer);
  }

  void finish(const ObservedSample& /*sample*/) override { sums.finish(); }

  void state(StateArchive& archive) override {
    sums.state(archive);
    bool is_drawn = drawn();
    archive.flag(is_drawn);
    if (archive.reads() && is_drawn && !drawn()) draw();
    if (!is_drawn) maps_ = nullptr;
    if (!drawn()) return;
    maps_->archive(archive, panel, extent_);
    for (auto& layer : published) layer.state(archive, extent_.tokens);
  }

  bool drawn() const { return maps_ != nullptr; }
  void do_not_draw() { maps_ = nullptr; }

  QkSampleSums sums;
  QkMaps::Panel panel;
  std::vector<QkPublished::Panel> published;  // [layers]

 private:
  ScratchPool<QkColumns>& scratch_;
  const QkMaps::Extent extent_;
  const size_t layers_;
  std::function<void()> make_maps_;
  const QkMaps* maps_ = nullptr;  // null: this sample is not drawn
};

// Why floating columns win: by angle, by length, or both; per head, layer and step.
class Qk final : public Analysis {
 public:
  Qk(const TraceFacts& facts, const AnalysisOptions& options)
      : manifest_(facts.manifest), options_(options), sums_(manifest_.model, options), maps_(options) {}

  std::unique_ptr<SampleAnalysis> begin(const SampleFacts& sample) override {
    require_layers(sample, manifest_);
    require_array(sample, trace::kReceived);
    QkColumns::require(sample);
    auto kept = std::make_unique<QkSample>(sums_.grid(), sample, scratch_);
    kept->can_draw(sample, maps_);
    if (seen_ <= options_.sample && sample.number >= options_.sample) kept->draw();
    return kept;
  }

  void end(const ObservedSample& sample, SampleAnalysis& given) override {
    auto& kept = dynamic_cast<QkSample&>(given);
    sums_.add(sample, kept.sums);
    // Where samples in front failed, this one may be the one to draw when they are tried again.
    const bool may_be_drawn = seen_ < options_.sample && sample.number >= options_.sample;
    if (seen_++ != options_.sample) return may_be_drawn ? void() : kept.do_not_draw();
    if (!kept.drawn())
      throw_input_error(
          {"sample " + sample.id(), "the map of the sample that is drawn", "none in its state"});
    maps_.draw(sample, kept.panel);
    for (size_t l = 0; l < kept.published.size(); ++l) {
      if (!kept.published[l].floating.empty())
        published_.draw(sample, static_cast<std::int64_t>(l), kept.published[l]);
    }
  }

  std::vector<Table> tables() const override {
    return {sums_.by_layer(), sums_.by_head(), sums_.by_step(),    sums_.depth(),
            maps_.columns(),  maps_.pairs(),   published_.table(), sums_.rotation()};
  }

 private:
  trace::Manifest manifest_;
  AnalysisOptions options_;
  QkSums sums_;
  QkMaps maps_;
  QkPublished published_;
  ScratchPool<QkColumns> scratch_;
  std::int64_t seen_ = 0;
};

}  // namespace

std::unique_ptr<Analysis> make_qk(const TraceFacts& facts, const AnalysisOptions& options) {
  return std::make_unique<Qk>(facts, options);
}

}  // namespace buoy::analysis
