#include "buoy/study/design/measured_claims.h"

#include <algorithm>
#include <array>
#include <vector>

#include "buoy/base/attempt.h"
#include "buoy/result/schema/absorption.h"
#include "buoy/result/schema/drift.h"
#include "buoy/result/schema/floating.h"
#include "buoy/result/schema/flow.h"
#include "buoy/result/schema/qk.h"
#include "buoy/result/schema/retrieval.h"
#include "buoy/result/schema/structure.h"

namespace buoy::study {
namespace {

struct ReadBy {
  std::string_view claim, analysis;
};
constexpr std::array kReadBy = {
    ReadBy{"C1", schema::kDrift.name},      ReadBy{"C2", schema::kFloating.name},
    ReadBy{"C4", schema::kAbsorption.name}, ReadBy{"C5", schema::kQk.name},
    ReadBy{"C6", schema::kStructure.name},  ReadBy{"C6", schema::kRetrieval.name},
    ReadBy{"C6", schema::kFlow.name},       ReadBy{"C8", schema::kFlow.name},
};

}  // namespace

bool is_measured(const StudyPlan& plan, const TraceEntry& trace, std::string_view claim) {
  if (trace.tasks_only) return false;
  std::vector<std::string> kept;
  // What cannot be observed is said elsewhere.
  if (attempt([&] { kept = plan.kept_analyses(trace, trace.request.plan()); })) return true;
  bool any = false;
  for (const auto& [read_by, analysis] : kReadBy) {
    if (read_by != claim) continue;
    any = true;
    if (std::find(kept.begin(), kept.end(), analysis) == kept.end()) return false;
  }
  return any;
}

}  // namespace buoy::study
