#include "buoy/analysis/core/run.h"

#include "buoy/analysis/core/sample_run.h"
#include "buoy/analysis/sample/replay.h"
#include "buoy/analysis/sample/stored_source.h"
#include "buoy/base/attempt.h"
#include "buoy/base/error.h"
#include "buoy/base/side_by_side.h"
#include "buoy/tensor/thread_pool.h"
#include "buoy/trace/reader.h"

namespace buoy::analysis {
namespace {

using Analyses = std::vector<std::unique_ptr<Analysis>>;

void analyse_sample(const StoredSource& source, const Analyses& analyses, const RuleOptions& rules,
                    ThreadPool& threads) {
  const auto& sample = source.sample();
  SampleRun run(analyses, sample);
  replay(source, rules, threads,
         {[&](const LayerView& layer) { run.take(layer); },
          [&](std::int64_t l) { run.finish_layer(sample, l); }});
  run.end(sample);
}

void add_samples(const trace::TraceReader& reader, const TraceInput& input, const RunOptions& options,
                 const Analyses& analyses, std::vector<SkippedSample>& skipped) {
  ThreadPool threads(options.threads > 0 ? options.threads : available_threads());
  std::int64_t taken = 0;
  for (const auto& entry : reader.samples()) {
    if (options.limit > 0 && taken == options.limit) break;
    if (entry.status == trace::Status::kFailed) {
      skipped.push_back({input.label, entry.id, entry.error});
      continue;
    }
    StoredSource source(reader.manifest(), reader.read(entry.id));
    source.set_number(taken);
    analyse_sample(source, analyses, options.analysis.rules(), threads);
    ++taken;
    if (options.on_sample) options.on_sample();
  }
  if (taken == 0) throw_input_error({input.folder.string(), "at least one traced sample", "none"});
}

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

RunResult assemble(const std::vector<std::string>& names, std::vector<LabelledRun> runs,
                   const AnalysisOptions& options) {
  RunResult result;
  for (const auto& name : names)
    result.analyses.push_back({std::string(find_analysis(name).producer.name), {}});
  if (runs.empty()) return result;
  std::vector<std::vector<std::vector<Table>>> tables;  // [run][analysis][table]
  std::vector<Analyses> to_compare(names.size());       // [analysis][run]; the others are let go
  tables.assign(runs.size(), std::vector<std::vector<Table>>(names.size()));
  run_side_by_side(runs.size() * names.size(), [&](size_t number) {
    const size_t r = number / names.size(), a = number % names.size();
    tables[r][a] = runs[r].run.analyses[a]->tables();
  });
  for (auto& [label, run] : runs) {
    result.skipped.insert(result.skipped.end(), run.skipped.begin(), run.skipped.end());
    for (size_t a = 0; a < names.size(); ++a) {
      if (find_analysis(names[a]).compare != nullptr) to_compare[a].push_back(std::move(run.analyses[a]));
    }
  }
  for (size_t a = 0; a < names.size(); ++a) {
    for (size_t t = 0; t < tables[0][a].size(); ++t) {
      std::vector<LabelledTable> labelled;
      const std::string name = tables[0][a][t].name;
      for (size_t n = 0; n < tables.size(); ++n) {
        BUOY_CHECK(tables[n][a][t].name == name);
        labelled.push_back({runs[n].label, std::move(tables[n][a][t])});
      }
      result.analyses[a].tables.push_back(stack(labelled));
    }
    if (to_compare[a].empty()) continue;
    for (auto& table : find_analysis(names[a]).compare(to_compare[a], options))
      result.analyses[a].tables.push_back(std::move(table));
  }
  return result;
}

RunResult run_analyses(const std::vector<std::string>& names, const std::vector<TraceInput>& traces,
                       const RunOptions& options) {
  BUOY_CHECK(!names.empty() && !traces.empty());
  std::vector<LabelledRun> runs;
  std::vector<LeftOutTrace> left_out;
  for (const auto& input : traces) {
    try {
      runs.push_back({input.label, analyse_trace(names, input, options)});
    } catch (const std::exception& error) {
      if (!options.leave_out_lacking) throw;
      left_out.push_back({input.label, reason_of(error)});
    }
  }
  auto result = assemble(names, std::move(runs), options.analysis);
  result.left_out = std::move(left_out);
  return result;
}

}  // namespace buoy::analysis
