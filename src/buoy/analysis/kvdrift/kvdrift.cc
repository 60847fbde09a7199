// How far keys and values move from one denoising step to the next: of all tokens, of the one that receives
// most, and over the depth of the model.

#include "buoy/result/schema/kvdrift.h"
#include "buoy/analysis/core/depth_summary.h"
#include "buoy/analysis/core/interval_cells.h"
#include "buoy/analysis/core/quantity_tables.h"
#include "buoy/analysis/kvdrift/sample_kvdrift.h"
#include "buoy/trace/schema.h"

namespace buoy::analysis {
namespace {

constexpr std::array kOverDepth = {std::int64_t{kAllTokens}, std::int64_t{kDriftedTokens}};  // keys, values

class KvDrift final : public Analysis {
 public:
  KvDrift(const TraceFacts& facts, const AnalysisOptions& options)
      : axis_(facts.manifest),
        summary_(kKvDriftMeasures, options.bootstrap),
        depth_(std::ssize(kOverDepth), options.bootstrap) {}

  std::unique_ptr<SampleAnalysis> begin(const SampleFacts& sample) override {
    for (const auto array : {trace::kReceived, trace::kKeyCosine, trace::kValueCosine})
      require_array(sample, array);
    if (sample.has(trace::kResidualCosine)) require_array(sample, trace::kRowPositions);
    axis_.take(sample);
    return std::make_unique<SampleKvDrift>(sample);
  }

  void end(const ObservedSample& sample, SampleAnalysis& given) override {
    const auto& kept = dynamic_cast<const SampleKvDrift&>(given);
    summary_.add(sample, kept.means);
    std::vector<double> by_layer;
    for (const auto quantity : kOverDepth) {
      for (std::int64_t l = 0; l < axis_.size(); ++l)
        by_layer.push_back(kept.means.of_layer(l, quantity).value);
    }
    depth_.add(sample.id(), axis_, by_layer);
  }

  std::vector<Table> tables() const override {
    return {summary_.layers(schema::kvdrift_by_layer, axis_), summary_.steps(schema::kvdrift_by_step),
            depth()};
  }

 private:
  Table depth() const {
    const auto& t = schema::kvdrift_depth;
    Table table(t);
    for (std::int64_t q = 0; q < std::ssize(kOverDepth); ++q) {
      for (std::int64_t part = 0; part < DepthSummary::kPartCount; ++part) {
        const stats::Estimate value = depth_.interval(q, part);
        if (value.samples == 0) continue;
        table.add(
            {{t.quantity,
              std::string(kKvDriftMeasures[static_cast<size_t>(kOverDepth[static_cast<size_t>(q)])].name)},
             {t.depth, std::string(DepthSummary::kParts[static_cast<size_t>(part)])},
             {t.value, interval_cells(value)},
             {t.null, number_cell(0)},
             {t.samples, value.samples}});
      }
    }
    return table;
  }

  LayerAxis axis_;
  QuantitySummary summary_;
  DepthSummary depth_;
};

}  // namespace

std::unique_ptr<Analysis> make_kvdrift(const TraceFacts& facts, const AnalysisOptions& options) {
  return std::make_unique<KvDrift>(facts, options);
}

}  // namespace buoy::analysis
