#include "buoy/result/schema/flow.h"
#include "buoy/analysis/core/analysis.h"
#include "buoy/analysis/core/extent.h"
#include "buoy/analysis/flow/answer_flow.h"
#include "buoy/analysis/flow/gold_flow.h"
#include "buoy/analysis/flow/kept_flow.h"
#include "buoy/base/error.h"

namespace buoy::analysis {
namespace {

// Where the answer's attention goes: region by region, layer by layer and rolled out over layers.
class Flow final : public Analysis {
 public:
  Flow(const TraceFacts& facts, const AnalysisOptions& options)
      : manifest_(facts.manifest),
        rollout_layers_(options.rollout_layers),
        answer_(manifest_.model.layers, manifest_.model.heads, options.bootstrap),
        gold_(manifest_.model.layers, options.bootstrap) {
    if (options.rollout_layers < 1) {
      throw_usage_error({"rollout layers", "at least 1", std::to_string(options.rollout_layers)});
    }
  }

  std::unique_ptr<SampleAnalysis> begin(const SampleFacts& sample) override {
    require_layers(sample, manifest_);
    return std::make_unique<KeptFlow>(sample, rollout_layers_);
  }

  void end(const ObservedSample& sample, SampleAnalysis& kept) override {
    ++samples_;
    const auto& of_sample = dynamic_cast<const KeptFlow&>(kept);
    const SampleFlow& flow = of_sample.flow();
    if (flow.regions.answer < 0) {
      ++no_answer_;
      return;
    }
    no_rows_ += !flow.regions.all_rows;
    no_published_ += !of_sample.sees_published();
    no_gold_ += flow.regions.gold.empty();
    several_gold_ += flow.regions.gold.size() > 1;
    only_gold_ += !flow.regions.gold.empty() && flow.regions.distractors.empty();
    answer_.add(sample, flow);
    rollout_.add(sample, of_sample);
    gold_.add(sample, flow, of_sample.rollout());
  }

  std::vector<Table> tables() const override {
    return {answer_.by_layer(), answer_.by_head(), gold_.by_layer(), gold_.by_rollout(),
            rollout_.rollout(), rollout_.matrix(), counts()};
  }

 private:
  Table counts() const {
    const auto& t = schema::flow_samples;
    Table table(t);
    table.add({{t.what, "samples"}, {t.samples, samples_}});
    table.add({{t.what, "left out: no answer region"}, {t.samples, no_answer_}});
    table.add({{t.what, "no rollout: query groups are not the regions"}, {t.samples, no_rows_}});
    table.add({{t.what,
                "no published rollout: no forward over the final row, or rows are shifted and there is no "
                "row_mass"},
               {t.samples, no_published_}});
    table.add({{t.what, "no gold document"}, {t.samples, no_gold_}});
    table.add({{t.what, "several gold documents"}, {t.samples, several_gold_}});
    table.add({{t.what, "gold documents only"}, {t.samples, only_gold_}});
    return table;
  }

  trace::Manifest manifest_;
  std::int64_t rollout_layers_;
  AnswerFlowSums answer_;
  RolloutSums rollout_;
  GoldFlowSums gold_;
  std::int64_t samples_ = 0, no_answer_ = 0, no_rows_ = 0, no_published_ = 0, no_gold_ = 0, several_gold_ = 0,
               only_gold_ = 0;
};

}  // namespace

std::unique_ptr<Analysis> make_flow(const TraceFacts& facts, const AnalysisOptions& options) {
  return std::make_unique<Flow>(facts, options);
}

}  // namespace buoy::analysis
