#include "app/report_builder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

#include "app/command_line.h"
#include "app/data_options.h"
#include "app/explored_trace.h"
#include "base/error.h"
#include "base/json_file.h"
#include "base/say.h"
#include "experiment/changes.h"
#include "experiment/summary.h"
#include "report/page.h"
#include "report/result_files.h"
#include "trace/reader.h"

namespace buoy::app {
namespace {

namespace fs = std::filesystem;

// Numbers and words of a JSON object on one line, for people.
std::string flat(const std::string& object) {
  std::string out;
  const Json json = Json::parse(object);
  for (const auto& [key, value] : json.items()) {
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    if (text.empty() || text == "-1" || text == "0" || text == "false") continue;
    out += fmt::format("{}{} {}", out.empty() ? "" : "; ", key, text);
  }
  return out;
}

report::TraceSummary summary_of(const analysis::TraceInput& input, trace::Integrity integrity) {
  const auto reader = trace::TraceReader::open(input.folder, integrity);
  const auto& m = reader.manifest();
  std::int64_t done = 0;
  bool diffusion = false;
  for (const auto& entry : reader.samples()) {
    if (entry.status != trace::Status::kDone) continue;
    if (done++ == 0) diffusion = analysis::ObservedSample(m, reader.read(entry.id)).masked_diffusion;
  }
  return {
      {input.label, diffusion, done},
      {{"model", fmt::format("{} ({}, {})", m.model.name, m.model.family, m.model.stored_dtype)},
       {"size", fmt::format("{} layers, {} heads of {}, {} key heads", m.model.layers, m.model.heads,
                            m.model.head_dim, m.model.kv_heads)},
       {"samples", fmt::format("{}{}", done, reader.complete() ? "" : " so far: the trace is not complete")},
       {"decoding", flat(m.decoding)},
       {"observed", flat(m.probe)},
       {"seed", fmt::format("{}", m.seed)},
       {"made by", fmt::format("{}, on {}", m.created_by, m.machine)},
       {"command", m.command}}};
}

// Tables of one or more runs of buoy eval, told apart by a first column.
report::AnalysedTables evaluation_tables(const std::vector<std::string>& runs) {
  std::map<std::string, std::vector<LabelledTable>> by_name;
  std::vector<std::string> order;
  for (const auto& text : runs) {
    const auto run = parse_named(text);
    for (auto& table : experiment::summarise(experiment::read_scores(run.path), {.resamples = 2000})) {
      if (!by_name.contains(table.name)) order.push_back(table.name);
      by_name[table.name].push_back({run.name, std::move(table)});
    }
  }
  report::AnalysedTables out{"evaluation", {}};
  for (const auto& name : order) out.tables.push_back(stack(by_name[name]));
  return out;
}

// On the page, and at once.
void add_note(report::ReportInput& input, std::string note) {
  say("note: {}\n", note);
  input.notes.push_back(std::move(note));
}

}  // namespace

void build_report(const ReportRequest& request) {
  if (request.call.traces.empty() && request.tasks.empty() && request.evaluations.empty())
    throw_usage_error({"report", "traces, or --eval with runs of buoy eval", "neither"});
  for (const auto& name : request.analyses) analysis::find_analysis(name);  // a wrong name before any work
  auto run = request.call.run;
  run.leave_out_lacking = true;
  const auto inputs = labelled_traces(request.call.traces, run.integrity());
  const auto tasks = request.tasks.empty() ? inputs : labelled_traces(request.tasks, run.integrity());
  report::ReportInput input;
  input.command = command_as_typed();
  if (run.trust)
    add_note(input,
             "checksums not verified (--trust): the numbers are those of the files as they are now, "
             "which may not be what was traced.");
  for (const auto& trace : inputs) {
    input.traces.push_back(summary_of(trace, run.integrity()));
    input.explorer.push_back(explored_trace(trace, run));
    const auto changes =
        experiment::changes_of(trace::TraceReader::open(trace.folder, run.integrity()).manifest());
    if (changes.empty()) continue;
    input.traces.back().judged = false;
    add_note(input, fmt::format("{}: the model was changed ({}), so no claim is judged on this trace.",
                                trace.label, fmt::join(changes, ", ")));
  }
  for (const auto& trace : tasks) {
    if (std::any_of(inputs.begin(), inputs.end(),
                    [&](const auto& other) { return fs::equivalent(other.folder, trace.folder); }))
      continue;
    input.traces.push_back(summary_of(trace, run.integrity()));
    input.traces.back().judged = false;
    input.explorer.push_back(explored_trace(trace, run));
    input.explorer.back().folded = true;
  }
  if (!request.evaluations.empty()) input.analyses.push_back(evaluation_tables(request.evaluations));
  bool failures_noted = false;
  for (const auto& kind : analysis::analysis_kinds()) {
    const auto& wanted = request.analyses;
    const auto& traces = kind.compare != nullptr ? tasks : inputs;
    if (traces.empty()) continue;
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), kind.name) == wanted.end()) continue;
    try {
      auto result = run_with_progress({std::string(kind.name)}, traces, run);
      for (const auto& lacking : result.left_out)
        add_note(input, fmt::format("{} is left out for {}: {}", kind.title, lacking.trace, lacking.reason));
      input.analyses.push_back({std::string(kind.name), std::move(result.analyses[0].tables)});
      if (failures_noted || result.skipped.empty()) continue;
      failures_noted = true;
      input.notes.push_back(
          fmt::format("{} samples failed while they were traced and are not part of this report.",
                      result.skipped.size()));
    } catch (const InputError& error) {
      add_note(input, fmt::format("{} is left out: {}", kind.title, error.what()));
    }
  }
  if (input.analyses.empty())
    throw InputError("no analysis could be run on these traces; see the notes above");
  report::remove_results(request.out);  // of an earlier report on other traces
  const auto size = report::write_report(input, request.out);
  fmt::print("{}/report.html: {} analyses, {} tables, {} figures\n", request.out.string(),
             input.analyses.size(), size.tables, size.figures);
}

}  // namespace buoy::app
