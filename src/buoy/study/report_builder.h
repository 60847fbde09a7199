#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "buoy/analysis/core/run.h"
#include "buoy/base/file/named_path.h"
#include "buoy/claims/network.h"
#include "buoy/report/page.h"
#include "buoy/study/published/published_values.h"

namespace buoy::study {

// What a study knows of a trace and its files do not say.
struct TraceOrigin {
  std::string network;  // its name in the study
  std::string data;     // which questions, asked how
};

struct ReportRequest {
  std::string title;                   // "": the usual one
  std::vector<NamedPath> traces;       // for all analyses
  std::vector<NamedPath> tasks;        // those compared task by task; empty: traces
  std::vector<NamedPath> evaluations;  // folders of buoy eval
  std::vector<std::string> analyses;   // names; empty: all
  analysis::RunOptions run;            // how traces are analysed
  std::filesystem::path out;
  std::string command = {};                                   // as typed, for the page
  std::vector<claims::Network> networks = {};                 // of a study, with their arms
  std::map<std::filesystem::path, TraceOrigin> origins = {};  // by the folders of traces
  std::vector<std::filesystem::path> siblings = {};  // tables claim_quantities of networks measured elsewhere
  std::vector<report::QuestionSet> sets = {};        // what a study says of its data
  std::vector<PublishedValue> published = {};        // numbers that ours stand beside
  std::map<std::string, NetworkShape> shapes = {};   // of networks, by the labels that tables have
};

// Analyses the traces, summarises the runs, writes report.html with tables/ and figures/, and says so. What
// cannot be read, analysed or drawn is left out, with the reason on the page and on stderr. Wrong options
// and paths where there is nothing are refused before any work; InputError, after the page is written, when
// not one analysis could be run.
void build_report(const ReportRequest& request);

}  // namespace buoy::study
