#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/analysis_options.h"

namespace buoy::app {

struct ReportRequest {
  AnalysisCall call;                     // traces and how they are analysed
  std::vector<std::string> tasks;        // as call.traces: those compared task by task; empty: call.traces
  std::vector<std::string> evaluations;  // "RUN" or "LABEL=RUN", folders of buoy eval
  std::vector<std::string> analyses;     // names; empty: all
  std::filesystem::path out;
};

// Analyses the traces, summarises the runs, writes report.html with tables/ and figures/, and says so.
void build_report(const ReportRequest& request);

}  // namespace buoy::app
