#include <memory>
#include <optional>

#include "buoy/analysis/core/analysis.h"
#include "buoy/analysis/tasks/task_tables.h"
#include "buoy/trace/schema.h"

namespace buoy::analysis {
namespace {

// Keeps a few numbers per sample and layer: permutations of labels need all samples at once.
class Tasks final : public Analysis {
 public:
  Tasks(const TraceFacts& facts, const AnalysisOptions& options)
      : rule_options_{options.epsilon, options.share_factor, options.mad_factor}, axis_(facts.manifest) {
    const auto& model = facts.manifest.model;
    trace_.label = facts.label;
    trace_.model_name = model.name;
    trace_.model_identity = model.config_sha256 + model.weights_sha256;
  }

  void add(const ObservedSample& sample) override {
    require_array(sample.stored(), trace::kReceived);
    axis_.take(sample);
    if (!detector_ || !detector_->fits(sample.causal, sample.tokens))
      detector_.emplace(sample.causal, sample.tokens, rule_options_);
    trace_.masked_diffusion = sample.masked_diffusion;
    trace_.layers = axis_.numbers();
    trace_.samples.push_back(task_sample(sample, *detector_));
  }

  std::vector<Table> tables() const override { return {anchors_table(trace_)}; }
  const TaskTrace& trace() const { return trace_; }

 private:
  RuleOptions rule_options_;
  LayerAxis axis_;
  std::optional<AnchorDetector> detector_;
  TaskTrace trace_;
};

}  // namespace

std::unique_ptr<Analysis> make_tasks(const TraceFacts& facts, const AnalysisOptions& options) {
  return std::make_unique<Tasks>(facts, options);
}

std::vector<Table> compare_tasks(std::span<const std::unique_ptr<Analysis>> traces,
                                 const AnalysisOptions& options) {
  std::vector<const TaskTrace*> all;
  for (const auto& trace : traces) all.push_back(&dynamic_cast<const Tasks&>(*trace).trace());
  return task_tables(group_by_model(all), options.bootstrap);
}

}  // namespace buoy::analysis
