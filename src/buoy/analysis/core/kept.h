#pragma once

#include <set>
#include <string>
#include <vector>

#include "buoy/analysis/core/analysis.h"
#include "buoy/analysis/core/sample_run.h"
#include "buoy/analysis/sample/stored_source.h"
#include "buoy/tensor/thread_pool.h"

namespace buoy::analysis {

// What a trace that keeps states says of them: names, and the settings that states depend on. Those of the
// bootstrap are free, because it comes behind.
trace::KeptAnalyses describe_kept(const std::vector<std::string>& names, const AnalysisOptions& options);

// Of these settings, those that the trace was kept with; others stay as they are.
void take_settings(const trace::KeptAnalyses& kept, const std::set<std::string>& names,
                   AnalysisOptions& options);

// Throws InputError when the trace in `where` keeps states in place of arrays, and not those of these
// analyses with these settings.
void require_kept(const trace::Manifest& manifest, const std::vector<std::string>& names,
                  const AnalysisOptions& options, const std::string& where);

// A stored sample on its way through analyses: from its arrays, or from the states that it has of them.
class StoredRun {
 public:
  // begin() of the analyses; `names` are theirs.
  StoredRun(const StoredSource& source, const std::vector<std::string>& names,
            std::span<const std::unique_ptr<Analysis>> analyses, LackingAnalyses* lacking = nullptr);

  // All but the end. Several samples may be at this at once.
  void work(const RuleOptions& rules, ThreadPool& threads);
  // end() of the analyses; samples one after the other.
  void end() { run_.end(source_.sample()); }

 private:
  const StoredSource& source_;
  const std::vector<std::string>& names_;
  SampleRun run_;
};

}  // namespace buoy::analysis
