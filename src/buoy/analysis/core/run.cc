#include "buoy/analysis/core/run.h"

#include "buoy/base/attempt.h"
#include "buoy/base/error.h"
#include "buoy/trace/reader.h"

namespace buoy::analysis {
namespace {

using Analyses = std::vector<std::unique_ptr<Analysis>>;

void add_samples(const trace::TraceReader& reader, const TraceInput& input, const RunOptions& options,
                 const Analyses& analyses, std::vector<SkippedSample>& skipped) {
  std::int64_t taken = 0;
  for (const auto& entry : reader.samples()) {
    if (options.limit > 0 && taken == options.limit) break;
    if (entry.status == trace::Status::kFailed) {
      skipped.push_back({input.label, entry.id, entry.error});
      continue;
    }
    const ObservedSample sample(reader.manifest(), reader.read(entry.id));
    for (const auto& analysis : analyses) analysis->add(sample);
    ++taken;
    if (options.on_sample) options.on_sample();
  }
  if (taken == 0) throw_input_error({input.folder.string(), "at least one traced sample", "none"});
}

struct AnalysedTrace {
  Analyses analyses;
  std::vector<SkippedSample> skipped;
};

AnalysedTrace analyse_trace(const std::vector<std::string>& names, const TraceInput& input,
                            const RunOptions& options) {
  const auto reader = trace::TraceReader::open(input.folder, options.integrity());
  const TraceFacts facts{input.label, reader.manifest()};
  AnalysedTrace out;
  for (const auto& name : names) out.analyses.push_back(find_analysis(name).make(facts, options.analysis));
  add_samples(reader, input, options, out.analyses, out.skipped);
  return out;
}

}  // namespace

RunResult run_analyses(const std::vector<std::string>& names, const std::vector<TraceInput>& traces,
                       const RunOptions& options) {
  BUOY_CHECK(!names.empty() && !traces.empty());
  RunResult result;
  for (const auto& name : names)
    result.analyses.push_back({std::string(find_analysis(name).producer.name), {}});
  std::vector<std::vector<std::vector<Table>>> tables;  // [trace][analysis][table]
  std::vector<Analyses> to_compare(names.size());       // [analysis][trace]; the others are let go
  std::vector<std::string> labels;                      // [trace]
  for (const auto& input : traces) {
    AnalysedTrace analysed;
    try {
      analysed = analyse_trace(names, input, options);
    } catch (const std::exception& error) {
      if (!options.leave_out_lacking) throw;
      result.left_out.push_back({input.label, reason_of(error)});
      continue;
    }
    auto& [analyses, skipped] = analysed;
    result.skipped.insert(result.skipped.end(), skipped.begin(), skipped.end());
    labels.push_back(input.label);
    auto& of_trace = tables.emplace_back();
    for (size_t a = 0; a < names.size(); ++a) {
      of_trace.push_back(analyses[a]->tables());
      if (find_analysis(names[a]).compare != nullptr) to_compare[a].push_back(std::move(analyses[a]));
    }
  }
  if (tables.empty()) return result;
  for (size_t a = 0; a < names.size(); ++a) {
    for (size_t t = 0; t < tables[0][a].size(); ++t) {
      std::vector<LabelledTable> labelled;
      const std::string name = tables[0][a][t].name;
      for (size_t n = 0; n < tables.size(); ++n) {
        BUOY_CHECK(tables[n][a][t].name == name);
        labelled.push_back({labels[n], std::move(tables[n][a][t])});
      }
      result.analyses[a].tables.push_back(stack(labelled));
    }
    if (to_compare[a].empty()) continue;
    for (auto& table : find_analysis(names[a]).compare(to_compare[a], options.analysis))
      result.analyses[a].tables.push_back(std::move(table));
  }
  return result;
}

}  // namespace buoy::analysis
