#include <memory>

#include "buoy/analysis/core/analysis.h"
#include "buoy/analysis/tasks/task_tables.h"
#include "buoy/trace/schema.h"

namespace buoy::analysis {
namespace {

// Keeps a few numbers per sample and layer: permutations of labels need all samples at once.
class Tasks final : public Analysis {
 public:
  explicit Tasks(const TraceFacts& facts) : axis_(facts.manifest) {
    const auto& model = facts.manifest.model;
    trace_.label = facts.label;
    trace_.model_name = model.name;
    trace_.model_identity = model.config_sha256 + model.weights_sha256;
  }

  std::unique_ptr<SampleAnalysis> begin(const SampleFacts& sample) override {
    require_array(sample, trace::kReceived);
    axis_.take(sample);
    return std::make_unique<TaskAnchors>(sample);
  }

  void end(const ObservedSample& sample, SampleAnalysis& kept) override {
    trace_.masked_diffusion = sample.masked_diffusion;
    trace_.layers = axis_.numbers();
    trace_.samples.push_back(dynamic_cast<const TaskAnchors&>(kept).sample(sample));
  }

  std::vector<Table> tables() const override { return {anchors_table(trace_)}; }
  const TaskTrace& trace() const { return trace_; }

 private:
  LayerAxis axis_;
  TaskTrace trace_;
};

}  // namespace

std::unique_ptr<Analysis> make_tasks(const TraceFacts& facts, const AnalysisOptions& /*options*/) {
  return std::make_unique<Tasks>(facts);
}

std::vector<Table> compare_tasks(std::span<const std::unique_ptr<Analysis>> traces,
                                 const AnalysisOptions& options) {
  std::vector<const TaskTrace*> all;
  for (const auto& trace : traces) all.push_back(&dynamic_cast<const Tasks&>(*trace).trace());
  return task_tables(group_by_model(all), options.bootstrap);
}

}  // namespace buoy::analysis
