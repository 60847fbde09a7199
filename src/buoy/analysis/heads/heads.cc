// What heads do: entropy of their rows, their weight on the first key, the values they attend to, what they
// put out.

#include "buoy/result/schema/heads.h"
#include "buoy/analysis/core/quantity_tables.h"
#include "buoy/analysis/heads/sample_heads.h"
#include "buoy/trace/schema.h"

namespace buoy::analysis {
namespace {

class Heads final : public Analysis {
 public:
  Heads(const TraceFacts& facts, const AnalysisOptions& options)
      : sink_share_(options.sink_share), axis_(facts.manifest), summary_(kHeadMeasures, options.bootstrap) {
    require_sink_share(options);
  }

  std::unique_ptr<SampleAnalysis> begin(const SampleFacts& sample) override {
    for (const auto array :
         {trace::kReceived, trace::kEntropy, trace::kFirstShare, trace::kContribution, trace::kValueNorm})
      require_array(sample, array);
    axis_.take(sample);
    return std::make_unique<SampleHeads>(sample, sink_share_);
  }

  void end(const ObservedSample& sample, SampleAnalysis& given) override {
    summary_.add(sample, dynamic_cast<const SampleHeads&>(given).means);
  }

  std::vector<Table> tables() const override {
    return {summary_.layers(schema::heads_by_layer, axis_), summary_.steps(schema::heads_by_step),
            summary_.heads(schema::heads_by_head, axis_)};
  }

 private:
  double sink_share_;
  LayerAxis axis_;
  QuantitySummary summary_;
};

}  // namespace

std::unique_ptr<Analysis> make_heads(const TraceFacts& facts, const AnalysisOptions& options) {
  return std::make_unique<Heads>(facts, options);
}

}  // namespace buoy::analysis
