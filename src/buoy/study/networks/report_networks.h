#pragma once

#include <vector>

#include "buoy/claims/siblings.h"
#include "buoy/report/page.h"
#include "buoy/study/report_builder.h"

// What a report knows of networks: names, arms, weights, what they were asked, and siblings.
namespace buoy::study {

// The network of a trace and its questions.
void tell_network(const ReportRequest& request, const std::filesystem::path& folder,
                  const trace::Manifest& manifest, report::TraceSummary& summary);

// The same for evaluations and for the comparison of tasks, whose tables name models only. Runs that cannot
// be read are left aside: the report says why elsewhere.
claims::Background background_of(const ReportRequest& request, const std::vector<analysis::TraceInput>& tasks,
                                 const std::vector<NamedPath>& evaluations, trace::Integrity integrity);

// Tables of networks that were measured elsewhere, each with its file. InputError for those that are none.
struct SiblingTable {
  std::filesystem::path file;
  std::vector<claims::StoredQuantity> rows;
};
std::vector<SiblingTable> read_siblings(const std::vector<std::filesystem::path>& files);

// Adds those that may be compared to the background; a notice says who may not and why.
void add_siblings(const std::vector<SiblingTable>& tables, report::ReportInput& input);

}  // namespace buoy::study
