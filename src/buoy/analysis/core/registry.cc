#include <fmt/format.h>

#include "buoy/analysis/core/analysis.h"
#include "buoy/base/error.h"
#include "buoy/base/field_name.h"
#include "buoy/result/schema/absorption.h"
#include "buoy/result/schema/drift.h"
#include "buoy/result/schema/floating.h"
#include "buoy/result/schema/flow.h"
#include "buoy/result/schema/heads.h"
#include "buoy/result/schema/kvdrift.h"
#include "buoy/result/schema/predictions.h"
#include "buoy/result/schema/qk.h"
#include "buoy/result/schema/retrieval.h"
#include "buoy/result/schema/rollout.h"
#include "buoy/result/schema/routing.h"
#include "buoy/result/schema/sinks.h"
#include "buoy/result/schema/steps.h"
#include "buoy/result/schema/structure.h"
#include "buoy/result/schema/tasks.h"

namespace buoy::analysis {

// Each in the file of its analysis.
std::unique_ptr<Analysis> make_floating(const TraceFacts& facts, const AnalysisOptions& options);
std::unique_ptr<Analysis> make_drift(const TraceFacts& facts, const AnalysisOptions& options);
std::unique_ptr<Analysis> make_absorption(const TraceFacts& facts, const AnalysisOptions& options);
std::unique_ptr<Analysis> make_qk(const TraceFacts& facts, const AnalysisOptions& options);
std::unique_ptr<Analysis> make_retrieval(const TraceFacts& facts, const AnalysisOptions& options);
std::unique_ptr<Analysis> make_flow(const TraceFacts& facts, const AnalysisOptions& options);
std::unique_ptr<Analysis> make_structure(const TraceFacts& facts, const AnalysisOptions& options);
std::unique_ptr<Analysis> make_sinks(const TraceFacts& facts, const AnalysisOptions& options);
std::unique_ptr<Analysis> make_heads(const TraceFacts& facts, const AnalysisOptions& options);
std::unique_ptr<Analysis> make_steps(const TraceFacts& facts, const AnalysisOptions& options);
std::unique_ptr<Analysis> make_kvdrift(const TraceFacts& facts, const AnalysisOptions& options);
std::unique_ptr<Analysis> make_rollout(const TraceFacts& facts, const AnalysisOptions& options);
std::unique_ptr<Analysis> make_predictions(const TraceFacts& facts, const AnalysisOptions& options);
std::unique_ptr<Analysis> make_routing(const TraceFacts& facts, const AnalysisOptions& options);
std::unique_ptr<Analysis> make_tasks(const TraceFacts& facts, const AnalysisOptions& options);

std::vector<Table> compare_absorption(std::span<const std::unique_ptr<Analysis>> traces,
                                      const AnalysisOptions& options);
std::vector<Table> compare_tasks(std::span<const std::unique_ptr<Analysis>> traces,
                                 const AnalysisOptions& options);

const std::vector<AnalysisKind>& analysis_kinds() {
  static const std::vector<AnalysisKind> kinds = {
      {schema::kFloating, schema::kFloatingTables, make_floating},
      {schema::kDrift, schema::kDriftTables, make_drift},
      {schema::kAbsorption, schema::kAbsorptionTables, make_absorption, compare_absorption},
      {schema::kQk, schema::kQkTables, make_qk},
      {schema::kRetrieval, schema::kRetrievalTables, make_retrieval},
      {schema::kFlow, schema::kFlowTables, make_flow},
      {schema::kStructure, schema::kStructureTables, make_structure},
      {schema::kSinks, schema::kSinksTables, make_sinks, nullptr, false, true, true},
      {schema::kHeads, schema::kHeadsTables, make_heads, nullptr, false, true, true},
      {schema::kSteps, schema::kStepsTables, make_steps, nullptr, false, true, true},
      {schema::kKvDrift, schema::kKvDriftTables, make_kvdrift, nullptr, false, true},
      {schema::kRollout, schema::kRolloutTables, make_rollout, nullptr, false, true},
      {schema::kPredictions, schema::kPredictionsTables, make_predictions, nullptr, false, true},
      {schema::kRouting, schema::kRoutingTables, make_routing, nullptr, false, true},
      {schema::kTasks, schema::kTasksTables, make_tasks, compare_tasks, true},
  };
  return kinds;
}

void require_sink_share(const AnalysisOptions& options) {
  if (!(options.sink_share > 0 && options.sink_share < 1))
    throw_usage_error(
        {field_name("sink_share"), "above 0 and below 1", fmt::format("{}", options.sink_share)});
}

const AnalysisKind& find_analysis(std::string_view name) {
  std::string names;
  for (const auto& kind : analysis_kinds()) {
    if (kind.producer.name == name) return kind;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", kind.producer.name);
  }
  throw_usage_error({"analysis", "one of " + names, fmt::format("\"{}\"", name)});
}

}  // namespace buoy::analysis
