#include <fmt/format.h>

#include "buoy/analysis/core/kinds.h"
#include "buoy/base/error.h"
#include "buoy/result/schema/absorption.h"
#include "buoy/result/schema/drift.h"
#include "buoy/result/schema/floating.h"
#include "buoy/result/schema/flow.h"
#include "buoy/result/schema/qk.h"
#include "buoy/result/schema/retrieval.h"
#include "buoy/result/schema/structure.h"
#include "buoy/result/schema/tasks.h"

namespace buoy::analysis {

namespace {

AnalysisKind kind_of(const Producer& producer, decltype(AnalysisKind::make) make,
                     decltype(AnalysisKind::compare) compare = nullptr) {
  return {producer.name, producer.title, producer.observe, make, compare};
}

}  // namespace

const std::vector<AnalysisKind>& analysis_kinds() {
  static const std::vector<AnalysisKind> kinds = {
      kind_of(schema::kFloating, make_floating),     kind_of(schema::kDrift, make_drift),
      kind_of(schema::kAbsorption, make_absorption), kind_of(schema::kQk, make_qk),
      kind_of(schema::kRetrieval, make_retrieval),   kind_of(schema::kFlow, make_flow),
      kind_of(schema::kStructure, make_structure),   kind_of(schema::kTasks, make_tasks, compare_tasks),
  };
  return kinds;
}

const AnalysisKind& find_analysis(std::string_view name) {
  std::string names;
  for (const auto& kind : analysis_kinds()) {
    if (kind.name == name) return kind;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", kind.name);
  }
  throw_usage_error({"analysis", "one of " + names, fmt::format("\"{}\"", name)});
}

}  // namespace buoy::analysis
