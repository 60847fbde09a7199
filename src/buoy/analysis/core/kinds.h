#pragma once

#include "buoy/analysis/core/analysis.h"

namespace buoy::analysis {

std::unique_ptr<Analysis> make_floating(const TraceFacts& facts, const AnalysisOptions& options);
std::unique_ptr<Analysis> make_drift(const TraceFacts& facts, const AnalysisOptions& options);
std::unique_ptr<Analysis> make_absorption(const TraceFacts& facts, const AnalysisOptions& options);
std::unique_ptr<Analysis> make_qk(const TraceFacts& facts, const AnalysisOptions& options);
std::unique_ptr<Analysis> make_retrieval(const TraceFacts& facts, const AnalysisOptions& options);
std::unique_ptr<Analysis> make_flow(const TraceFacts& facts, const AnalysisOptions& options);
std::unique_ptr<Analysis> make_structure(const TraceFacts& facts, const AnalysisOptions& options);
std::unique_ptr<Analysis> make_tasks(const TraceFacts& facts, const AnalysisOptions& options);

std::vector<Table> compare_tasks(std::span<const std::unique_ptr<Analysis>> traces,
                                 const AnalysisOptions& options);

}  // namespace buoy::analysis
