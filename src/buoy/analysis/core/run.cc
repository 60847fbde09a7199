#include "buoy/analysis/core/run.h"

#include <algorithm>
#include <optional>
#include <set>

#include "buoy/analysis/core/kept.h"
#include "buoy/analysis/core/trace_pass.h"
#include "buoy/base/attempt.h"
#include "buoy/base/error.h"
#include "buoy/base/side_by_side.h"
#include "buoy/trace/reader.h"

namespace buoy::analysis {
namespace {

struct LabelledAnalysis {
  std::string label;
  std::unique_ptr<Analysis> analysis;
};

// Of one analysis: the tables of all runs together, then what compares them.
std::vector<Table> stacked_tables(const std::string& name, std::vector<LabelledAnalysis> runs,
                                  std::vector<std::vector<Table>> tables, const AnalysisOptions& options) {
  std::vector<Table> out;
  for (size_t t = 0; !runs.empty() && t < tables[0].size(); ++t) {
    std::vector<LabelledTable> labelled;
    const std::string title = tables[0][t].name;
    for (size_t n = 0; n < tables.size(); ++n) {
      BUOY_CHECK(tables[n][t].name == title);
      labelled.push_back({runs[n].label, std::move(tables[n][t])});
    }
    out.push_back(stack(labelled));
  }
  const auto compare = find_analysis(name).compare;
  if (compare == nullptr || runs.empty()) return out;
  std::vector<std::unique_ptr<Analysis>> all;
  for (auto& run : runs) all.push_back(std::move(run.analysis));
  for (auto& table : compare(all, options)) out.push_back(std::move(table));
  return out;
}

// Fills `analyses` and, unless what is wrong is to be thrown, adds to `left_out`.
void assemble(const std::vector<std::string>& names, std::vector<std::vector<LabelledAnalysis>> by_analysis,
              const RunOptions& options, RunResult& result) {
  struct Place {
    size_t analysis, run;
    std::vector<Table> tables = {};
    std::optional<std::string> failure = {};
  };
  std::vector<Place> places;
  for (size_t a = 0; a < names.size(); ++a) {
    for (size_t r = 0; r < by_analysis[a].size(); ++r) places.push_back({a, r});
  }
  run_side_by_side(places.size(), [&](size_t number) {
    Place& place = places[number];
    const auto make = [&] { place.tables = by_analysis[place.analysis][place.run].analysis->tables(); };
    if (options.leave_out_lacking)
      place.failure = attempt(make);
    else
      make();
  });
  for (size_t a = 0; a < names.size(); ++a) {
    std::vector<LabelledAnalysis> runs;
    std::vector<std::vector<Table>> tables;
    for (auto& place : places) {
      if (place.analysis != a) continue;
      auto& run = by_analysis[a][place.run];
      if (place.failure) {
        result.left_out.push_back({run.label, *place.failure, names[a]});
        continue;
      }
      runs.push_back(std::move(run));
      tables.push_back(std::move(place.tables));
    }
    result.analyses.push_back(
        {std::string(find_analysis(names[a]).producer.name),
         stacked_tables(names[a], std::move(runs), std::move(tables), options.analysis)});
  }
}

}  // namespace

RunResult assemble(const std::vector<std::string>& names, std::vector<LabelledRun> runs,
                   const AnalysisOptions& options) {
  RunResult result;
  std::vector<std::vector<LabelledAnalysis>> by_analysis(names.size());
  for (auto& [label, run] : runs) {
    result.skipped.insert(result.skipped.end(), run.skipped.begin(), run.skipped.end());
    for (size_t a = 0; a < names.size(); ++a) {
      if (run.analyses[a]) by_analysis[a].push_back({label, std::move(run.analyses[a])});
    }
  }
  assemble(names, std::move(by_analysis), {.analysis = options}, result);
  return result;
}

RunOptions settled(const std::vector<std::filesystem::path>& traces, RunOptions options) {
  for (const auto& folder : traces) {
    if (options.free_settings.empty()) break;
    const auto look = [&] {
      const auto reader = trace::TraceReader::open(folder, options.integrity());
      if (reader.manifest().level == trace::Level::kFull) return;
      take_settings(reader.manifest().analyses, options.free_settings, options.analysis);
      options.free_settings.clear();
    };
    attempt(look);  // what is wrong with a trace is said when it is read
  }
  return options;
}

RunResult run_passes(const std::vector<TracePass>& passes, const RunOptions& asked) {
  std::vector<std::filesystem::path> folders;
  for (const auto& pass : passes) folders.push_back(pass.folder);
  const RunOptions options = settled(folders, asked);
  RunResult result;
  std::vector<std::string> names;
  for (const auto& pass : passes) {
    for (const auto& [analysis, label] : pass.wanted) {
      if (std::find(names.begin(), names.end(), analysis) == names.end()) names.push_back(analysis);
    }
  }
  std::vector<std::vector<LabelledAnalysis>> by_analysis(names.size());
  for (const auto& pass : passes) {
    PassResult found;
    try {
      found = run_pass(pass, options);
    } catch (const std::exception& error) {
      if (!options.leave_out_lacking) throw;
      found.analyses.resize(pass.wanted.size());
      found.reasons.assign(pass.wanted.size(), reason_of(error));
    }
    std::set<std::string> labels;
    for (size_t w = 0; w < pass.wanted.size(); ++w) {
      const auto& [analysis, label] = pass.wanted[w];
      const auto a = std::find(names.begin(), names.end(), analysis) - names.begin();
      if (found.analyses[w])
        by_analysis[static_cast<size_t>(a)].push_back({label, std::move(found.analyses[w])});
      else
        result.left_out.push_back({label, *found.reasons[w], analysis});
      if (!labels.insert(label).second) continue;
      for (const auto& [id, error] : found.failed) result.skipped.push_back({label, id, error});
    }
  }
  assemble(names, std::move(by_analysis), options, result);
  return result;
}

RunResult run_analyses(const std::vector<std::string>& names, const std::vector<TraceInput>& traces,
                       const RunOptions& options) {
  BUOY_CHECK(!names.empty() && !traces.empty());
  std::vector<TracePass> passes;
  for (const auto& input : traces) {
    TracePass pass{input.folder, {}};
    for (const auto& name : names) pass.wanted.push_back({name, input.label});
    passes.push_back(std::move(pass));
  }
  return run_passes(passes, options);
}

}  // namespace buoy::analysis
