#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "buoy/analysis/core/run.h"
#include "buoy/base/file/named_path.h"

namespace buoy::study {

struct ReportRequest {
  std::string title;                   // "": the usual one
  std::vector<NamedPath> traces;       // for all analyses
  std::vector<NamedPath> tasks;        // those compared task by task; empty: traces
  std::vector<NamedPath> evaluations;  // folders of buoy eval
  std::vector<std::string> analyses;   // names; empty: all
  analysis::RunOptions run;            // how traces are analysed
  std::filesystem::path out;
  std::string command = {};  // as typed, for the page
};

// Analyses the traces, summarises the runs, writes report.html with tables/ and figures/, and says so. What
// cannot be read, analysed or drawn is left out, with the reason on the page and on stderr. Wrong options
// and paths where there is nothing are refused before any work; InputError, after the page is written, when
// not one analysis could be run.
void build_report(const ReportRequest& request);

}  // namespace buoy::study
