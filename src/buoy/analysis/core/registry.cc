#include <fmt/format.h>

#include "buoy/analysis/core/kinds.h"
#include "buoy/base/error.h"

namespace buoy::analysis {

const std::vector<AnalysisKind>& analysis_kinds() {
  static const std::vector<AnalysisKind> kinds = {
      {"floating", "Floating tokens", "received", make_floating},
      {"drift", "Temporal drift", "received", make_drift},
      {"absorption", "Absorption", "received", make_absorption},
      {"qk", "QK decomposition", "received,qk,norms", make_qk},
      {"retrieval", "Retrieval heads", "top,row-mass", make_retrieval},
      {"flow", "Region flow", "mass", make_flow},
      {"structure", "Structure or content", "received", make_structure},
      {"tasks", "Anchors by task", "received", make_tasks, compare_tasks},
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
