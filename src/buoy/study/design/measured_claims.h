#pragma once

#include <string_view>

#include "buoy/study/study_plan.h"

namespace buoy::study {

// Whether a trace is judged by a claim: it observes what the analyses behind that claim read, and the report
// has them. Of claims that rest on evaluations or on tasks: false.
bool is_measured(const StudyPlan& plan, const TraceEntry& trace, std::string_view claim);

}  // namespace buoy::study
