#include <span>

#include "buoy/analysis/core/analysis.h"
#include "buoy/analysis/core/extent.h"
#include "buoy/analysis/floating/floating_rules.h"
#include "buoy/analysis/qk/qk_maps.h"
#include "buoy/analysis/qk/qk_published.h"
#include "buoy/analysis/qk/qk_sums.h"
#include "buoy/trace/schema.h"

namespace buoy::analysis {
namespace {

// The columns that float at one step and layer, by each way to choose them.
class FloatingSets {
 public:
  struct Set {
    Anchors anchors;
    std::int64_t strongest = -1;  // most attended of them
  };

  FloatingSets(const ObservedSample& sample, const AnalysisOptions& options)
      : heads_(sample.heads),
        // In a bidirectional layer even attention is flat, and the lift chooses the same columns.
        ways_(sample.causal ? kWays : kThreeSigmaLift),
        detector_(sample.causal, sample.tokens, {options.epsilon, options.share_factor, options.mad_factor}),
        sets_(static_cast<size_t>(heads_ * kWays)) {}

  std::int64_t ways() const { return ways_; }

  void find(const Received& received) {
    detector_.look(received.mean);
    find_one(Rule::kThreeSigma, received.mean, of_mean_);
    for (std::int64_t h = 0; h < heads_; ++h) {
      const std::span<const double> shares(received.head(h), static_cast<size_t>(received.tokens));
      detector_.look(shares);
      find_one(Rule::kThreeSigma, shares, own(kThreeSigmaHead, h));
      find_one(Rule::kTop1, shares, own(kTopOne, h));
      if (ways_ > kThreeSigmaLift) find_one(Rule::kThreeSigmaLift, shares, own(kThreeSigmaLift, h));
    }
  }

  const Set& at(std::int64_t way, std::int64_t head) const {
    return way == kThreeSigmaMean ? of_mean_ : sets_[static_cast<size_t>(head * kWays + way)];
  }

 private:
  Set& own(std::int64_t way, std::int64_t head) { return sets_[static_cast<size_t>(head * kWays + way)]; }

  void find_one(Rule rule, std::span<const double> shares, Set& out) {
    detector_.find(rule, out.anchors);
    if (!out.anchors.defined) out.anchors.positions.clear();
    out.strongest = -1;
    for (const auto j : out.anchors.positions) {
      if (out.strongest < 0 || shares[static_cast<size_t>(j)] > shares[static_cast<size_t>(out.strongest)])
        out.strongest = j;
    }
  }

  std::int64_t heads_, ways_;
  AnchorDetector detector_;
  Set of_mean_;
  std::vector<Set> sets_;  // [heads, ways]
};

// Why floating columns win: by angle, by length, or both; per head, layer and step.
class Qk final : public Analysis {
 public:
  Qk(const TraceFacts& facts, const AnalysisOptions& options)
      : manifest_(facts.manifest), options_(options), sums_(manifest_.model, options), maps_(options) {}

  void add(const ObservedSample& sample) override {
    require_layers(sample, manifest_);
    require_array(sample.stored(), trace::kReceived);
    QkColumns columns(sample);
    FloatingSets sets(sample, options_);
    sums_.begin(sample);
    for (std::int64_t s = 0; s < sample.step_count(); ++s) {
      for (std::int64_t l = 0; l < sample.layer_count(); ++l) {
        sets.find(sample.received(s, l));
        columns.read(s, l);
        const SliceOfSample slice{s, sample.layers[static_cast<size_t>(l)]};
        sums_.add_rotation(slice, columns);
        for (std::int64_t h = 0; h < sample.heads; ++h) {
          for (const auto stage : {kAfterRotation, kBeforeRotation}) {
            const ColumnMeans means = columns.of(stage, h);
            const ColumnTotals totals(means);
            for (std::int64_t way = 0; way < sets.ways(); ++way) {
              const auto& set = sets.at(way, h);
              sums_.add(slice, {h, way, stage},
                        contrast(means, totals, set.anchors.positions, set.strongest));
            }
          }
        }
      }
    }
    sums_.end(sample);
    if (seen_++ == options_.sample) {
      maps_.draw(sample);
      published_.draw(sample);
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
  std::int64_t seen_ = 0;
};

}  // namespace

std::unique_ptr<Analysis> make_qk(const TraceFacts& facts, const AnalysisOptions& options) {
  return std::make_unique<Qk>(facts, options);
}

}  // namespace buoy::analysis
