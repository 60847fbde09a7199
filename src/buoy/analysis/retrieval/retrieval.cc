#include "buoy/analysis/core/analysis.h"
#include "buoy/analysis/core/extent.h"
#include "buoy/analysis/retrieval/retrieval_sums.h"

namespace buoy::analysis {
namespace {

// Which heads look at the evidence when they write the answer.
class Retrieval final : public Analysis {
 public:
  Retrieval(const TraceFacts& facts, const AnalysisOptions& options)
      : manifest_(facts.manifest), sums_(manifest_.model, options.bootstrap) {}

  std::unique_ptr<SampleAnalysis> begin(const SampleFacts& sample) override {
    require_layers(sample, manifest_);
    return std::make_unique<RetrievalRows>(sample);
  }

  void end(const ObservedSample& sample, SampleAnalysis& kept) override {
    sums_.add(sample, dynamic_cast<const RetrievalRows&>(kept));
  }

  std::vector<Table> tables() const override {
    return {sums_.by_head(), sums_.by_layer(), sums_.summary(), sums_.counts()};
  }

 private:
  trace::Manifest manifest_;
  RetrievalSums sums_;
};

}  // namespace

std::unique_ptr<Analysis> make_retrieval(const TraceFacts& facts, const AnalysisOptions& options) {
  return std::make_unique<Retrieval>(facts, options);
}

}  // namespace buoy::analysis
