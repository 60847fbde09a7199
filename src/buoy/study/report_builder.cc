#include "buoy/study/report_builder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "buoy/analysis/sample/stored_source.h"
#include "buoy/base/attempt.h"
#include "buoy/base/counted.h"
#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"
#include "buoy/base/progress.h"
#include "buoy/base/say.h"
#include "buoy/report/page.h"
#include "buoy/result/schema/evaluation.h"
#include "buoy/result/schema/published.h"
#include "buoy/run/change/changes.h"
#include "buoy/run/summary/summary.h"
#include "buoy/study/analysed_traces.h"
#include "buoy/study/explored_trace.h"
#include "buoy/study/networks/report_networks.h"
#include "buoy/trace/reader.h"

namespace buoy::study {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kScoreResamples = 2000;  // of scored answers

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

// What its samples say of a model; nothing when no sample of the trace can be read.
struct Nature {
  bool diffusion = false;
  std::string mask;
};

std::optional<Nature> nature_of(const trace::TraceReader& reader) {
  for (const auto& entry : reader.samples()) {
    if (entry.status != trace::Status::kDone) continue;
    Nature nature;
    const auto failure = attempt([&] {
      const analysis::StoredSource source(reader.manifest(), reader.read(entry.id));
      const auto& sample = source.sample();
      nature.diffusion = sample.masked_diffusion;
      nature.mask = !sample.mask.causal      ? "full"
                    : sample.mask.prefix > 0 ? "prefix"
                    : sample.blocks          ? "blocks"
                                             : "causal";
    });
    if (!failure) return nature;
  }
  return std::nullopt;
}

report::TraceSummary summary_of(const analysis::TraceInput& input, trace::Integrity integrity) {
  const auto reader = trace::TraceReader::open(input.folder, integrity);
  const auto& m = reader.manifest();
  const auto done = std::count_if(reader.samples().begin(), reader.samples().end(),
                                  [](const auto& entry) { return entry.status == trace::Status::kDone; });
  const auto nature = nature_of(reader);
  return {
      {input.label, nature.value_or(Nature{}).diffusion, done},
      {{"model", fmt::format("{} ({}, {}){}", m.model.name, m.model.family, m.model.stored_dtype,
                             m.model.commit.empty() ? "" : ", commit " + m.model.commit)},
       {"size", fmt::format("{} layers, {} heads of {}, {} key heads", m.model.layers, m.model.heads,
                            m.model.head_dim, m.model.kv_heads)},
       {"weights", m.model.untrained.empty() ? "trained" : m.model.untrained + ": a control, not judged"},
       {"samples", fmt::format("{}{}", done, reader.complete() ? "" : " so far: the trace is not complete")},
       {"decoding", flat(m.decoding)},
       {"observed", flat(m.probe)},
       {"seed", fmt::format("{}", m.seed)},
       {"made by", fmt::format("{}, on {}", m.created_by, m.machine)},
       {"command", m.command}},
      nature.has_value(),
      m.model.name,
      {m.model.name, m.model.family, m.model.stored_dtype, m.model.commit, m.model.weights_sha256,
       nature.value_or(Nature{}).mask, m.model.parameters, m.model.layers, m.model.heads},
      flat(m.decoding),
      m.seed,
      !m.model.untrained.empty(),
      m.model.config_sha256};
}

void require_different_names(const std::vector<NamedPath>& runs) {
  std::set<std::string> names;
  for (const auto& run : runs) {
    if (!names.insert(run.name).second)
      throw_usage_error({"`evaluations`", "a different name for each run, as in A=" + run.path.string(),
                         fmt::format("\"{}\" twice", run.name)});
  }
}

class ReportBuilder {
 public:
  explicit ReportBuilder(const ReportRequest& request)
      : request_(request), run_(request.run), integrity_(request.run.integrity()) {}

  void run() {
    refuse_early();
    if (!request_.title.empty()) input_.title = request_.title;
    input_.command = request_.command;
    input_.sets = request_.sets;
    const auto& bootstrap = run_.analysis.bootstrap;
    input_.intervals = {bootstrap.confidence, bootstrap.replicates,
                        request_.evaluations.empty() ? 0 : kScoreResamples, bootstrap.seed};
    if (request_.run.trust)
      input_.notices.add(
          "checksums not verified (`trust`): the numbers are those of the files as they are now, "
          "which may not be what was traced.");
    for (const auto& trace : traces_) describe(trace, [&] { add_trace(trace); });
    for (const auto& trace : tasks_) describe(trace, [&] { add_task(trace); });
    add_evaluations();
    analyse();
    judge_what_was_analysed();
    add_published();
    add_networks();
    note_failed_samples();
    tell_stage("drawing the report");
    write();
  }

 private:
  // Wrong calls, before any work.
  void refuse_early() {
    if (request_.traces.empty() && request_.tasks.empty() && request_.evaluations.empty())
      throw_usage_error({"report", "traces, or `evaluations` with runs of buoy eval", "neither"});
    for (const auto& name : request_.analyses) analysis::find_analysis(name);
    traces_ = labelled_traces(readable(request_.traces), integrity_);
    tasks_ = request_.tasks.empty() ? traces_ : labelled_traces(readable(request_.tasks), integrity_);
    std::vector<fs::path> folders;
    for (const auto* list : {&traces_, &tasks_}) {
      for (const auto& trace : *list) folders.push_back(trace.folder);
    }
    run_ = analysis::settled(folders, run_);
    for (const auto& given : request_.evaluations) {
      if (!path_exists(given.path))
        throw_input_error({given.path.string(), "a folder of buoy eval", "nothing"});
      evaluations_.push_back(given.name.empty() ? parse_named(given.path.string())
                                                : NamedPath{given.name, given.path});
    }
    require_different_names(evaluations_);
    siblings_ = read_siblings(request_.siblings);
    check_map_options();
  }

  // A folder that is there and cannot be read as a trace is left out; one that is not there is refused.
  std::vector<NamedPath> readable(const std::vector<NamedPath>& traces) {
    std::vector<NamedPath> out;
    for (const auto& trace : traces) {
      const auto open = [&] { trace::TraceReader::open(trace.path, integrity_); };
      if (!path_exists(trace.path)) open();
      const auto failure = attempt(open);
      if (!failure) {
        out.push_back(trace);
        continue;
      }
      input_.notices.add(trace.name.empty() ? trace.path.string() : trace.name,
                         "this trace is left out: " + *failure);
    }
    return out;
  }

  // What maps show must be there in one trace at least; where it is not, they are left out.
  void check_map_options() const {
    const auto& options = run_.analysis;
    std::int64_t heads = 0, layers = 0, samples = 0;
    for (const auto* list : {&traces_, &tasks_}) {
      for (const auto& trace : *list) {
        const auto reader = trace::TraceReader::open(trace.folder, integrity_);
        heads = std::max(heads, reader.manifest().model.heads);
        layers = std::max(layers, reader.manifest().model.layers);
        samples = std::max(samples, static_cast<std::int64_t>(reader.samples().size()));
      }
    }
    const auto require = [&](const char* option, std::int64_t value, std::int64_t count) {
      if (value >= std::max<std::int64_t>(count, 1) && !(traces_.empty() && tasks_.empty()))
        throw_usage_error({option, fmt::format("a number below {}", count), std::to_string(value)});
    };
    require("`head`", options.head, heads);
    require("`layer`", options.layer, layers);
    require("`sample`", options.sample, samples);
  }

  void describe(const analysis::TraceInput& trace, const std::function<void()>& add) {
    if (const auto failure = attempt(add)) input_.notices.leave_out("What was run", trace.label, *failure);
  }

  void add_trace(const analysis::TraceInput& trace, Explored explored = Explored::kMuch) {
    const auto changes = run::changes_of(trace::TraceReader::open(trace.folder, integrity_).manifest());
    input_.traces.push_back(summary_of(trace, integrity_));
    tell_network(request_, trace.folder, trace::TraceReader::open(trace.folder, integrity_).manifest(),
                 input_.traces.back());
    if (!input_.traces.back().control) input_.explorer.push_back(explored_trace(trace, run_, explored));
    if (changes.empty()) return;
    input_.traces.back().judged = false;
    input_.notices.add(trace.label,
                       fmt::format("the model was changed ({}), so no claim is judged on this trace.",
                                   fmt::join(changes, ", ")));
  }

  // A trace that serves the comparison of tasks alone.
  void add_task(const analysis::TraceInput& trace) {
    const auto same = [&](const auto& other) { return fs::equivalent(other.folder, trace.folder); };
    if (std::any_of(traces_.begin(), traces_.end(), same)) return;
    add_trace(trace, Explored::kLittle);
    input_.traces.back().judged = false;
    if (!input_.traces.back().control) input_.explorer.back().folded = true;
  }

  // Tables of one or more runs of buoy eval, told apart by a first column.
  void add_evaluations() {
    std::map<std::string, std::vector<LabelledTable>> by_name;
    std::vector<std::string> order;
    for (const auto& run : evaluations_) {
      const auto failure = attempt([&] {
        for (auto& table :
             run::summarise(run::read_scores(run.path), {.replicates = kScoreResamples, .seed = 0})) {
          if (!by_name.contains(table.name)) order.push_back(table.name);
          by_name[table.name].push_back({run.name, std::move(table)});
        }
      });
      if (failure) input_.notices.add(run.name, "this run is left out: " + *failure);
    }
    report::AnalysedTables out{
        std::string(schema::kEvaluation.name), std::string(schema::kEvaluation.title), {}};
    const auto failure = attempt([&] {
      for (const auto& name : order) out.tables.push_back(stack(by_name[name]));
    });
    if (failure) input_.notices.leave_out(out.title, "", *failure);
    if (!out.tables.empty()) input_.analyses.push_back(std::move(out));
  }

  bool is_wanted(const analysis::AnalysisKind& kind) const {
    const auto& wanted = request_.analyses;
    if (wanted.empty()) return !kind.only_named;
    return std::find(wanted.begin(), wanted.end(), kind.producer.name) != wanted.end();
  }

  // Whether a trace has all of a list such as "received,qk".
  bool observes(const analysis::TraceInput& trace, std::string_view observables) const {
    const auto names = trace::observed_names(trace::TraceReader::open(trace.folder, integrity_).manifest());
    for (std::size_t from = 0; from <= observables.size();) {
      const std::size_t to = std::min(observables.find(',', from), observables.size());
      if (std::find(names.begin(), names.end(), observables.substr(from, to - from)) == names.end())
        return false;
      from = to + 1;
    }
    return true;
  }

  // What a trace does not observe is news where nobody said so: not in a study, whose file does.
  bool is_left_out_by_design(const analysis::AnalysisKind& kind, const analysis::TraceInput& trace) const {
    const bool is_asked_for = !request_.analyses.empty() && kind.on_request;
    const bool of_a_study = request_.origins.contains(trace.folder);
    return (kind.on_request || of_a_study) && !is_asked_for && !observes(trace, kind.producer.observe);
  }

  // Every trace is read once, for all analyses that are made of it.
  std::vector<analysis::TracePass> passes() const {
    std::vector<analysis::TracePass> passes;
    for (const auto& kind : analysis::analysis_kinds()) {
      if (!is_wanted(kind)) continue;
      for (const auto& trace : kind.of_tasks ? tasks_ : traces_) {
        if (is_left_out_by_design(kind, trace)) continue;
        const auto same = [&](const auto& pass) { return fs::equivalent(pass.folder, trace.folder); };
        auto pass = std::find_if(passes.begin(), passes.end(), same);
        if (pass == passes.end()) pass = passes.insert(pass, {trace.folder, {}});
        pass->wanted.push_back({std::string(kind.producer.name), trace.label});
      }
    }
    return passes;
  }

  void analyse() {
    const auto to_read = passes();
    if (to_read.empty()) return;
    auto run = run_;
    run.leave_out_lacking = true;
    const auto title = [](const std::string& analysis) {
      return std::string(analysis::find_analysis(analysis).producer.title);
    };
    const auto failure = attempt([&] {
      auto result = run_with_progress(to_read, run);
      for (const auto& [trace, reason, analysis] : result.left_out) {
        input_.notices.leave_out(title(analysis), trace, reason);
        left_out_.insert(trace);
      }
      for (const auto& pass : to_read) {
        for (const auto& [analysis, label] : pass.wanted) {
          const auto lacks = [&, name = analysis, trace = label](const auto& lacking) {
            return lacking.trace == trace && lacking.analysis == name;
          };
          if (std::none_of(result.left_out.begin(), result.left_out.end(), lacks)) analysed_.insert(label);
        }
      }
      for (auto& skipped : result.skipped) failed_[skipped.trace].insert(skipped.id);
      for (const auto& kind : analysis::analysis_kinds()) {
        for (auto& [name, tables] : result.analyses) {
          if (name == kind.producer.name && !tables.empty())
            input_.analyses.push_back({name, title(name), std::move(tables)});
        }
      }
    });
    if (failure) input_.notices.leave_out("Analyses", "", *failure);
  }

  // A trace that no analysis could be run on has no say in the verdicts.
  void judge_what_was_analysed() {
    for (auto& trace : input_.traces) {
      const auto& label = trace.kind.label;
      if (left_out_.contains(label) && !analysed_.contains(label)) trace.judged = false;
    }
  }

  void add_networks() {
    input_.background = background_of(request_, tasks_, evaluations_, integrity_);
    // A trace knows the mask, and an evaluation of the same network does not.
    for (auto& network : input_.background.networks) {
      for (const auto& trace : input_.traces) {
        if (trace.kind.network == network.name && network.mask.empty()) network.mask = trace.kind.about.mask;
      }
    }
    const auto failure = attempt([&] { add_siblings(siblings_, input_); });
    if (failure) input_.notices.leave_out("Siblings", "", *failure);
  }

  void add_published() {
    if (request_.published.empty()) return;
    const std::string title(schema::kPublished.title), name(schema::kPublished.name);
    const auto failure = attempt([&] {
      Table table = published_table(request_.published, report::judged_tables(input_), request_.shapes);
      fmt::print("{}\n{}", title, describe_published(table));
      input_.analyses.push_back({name, title, {std::move(table)}});
    });
    if (failure) input_.notices.leave_out(title, "", *failure);
  }

  void note_failed_samples() {
    for (const auto& [trace, ids] : failed_) {
      constexpr size_t kNamed = 5;
      const std::vector<std::string> named(ids.begin(), std::next(ids.begin(), std::min(ids.size(), kNamed)));
      const bool one = ids.size() == 1;
      input_.notices.add(
          trace, fmt::format("{} failed while {} traced and {} not part of this report ({}{}).",
                             counted(ids.size(), "sample"), one ? "it was" : "they were", one ? "is" : "are",
                             fmt::join(named, ", "), ids.size() > kNamed ? ", ..." : ""));
    }
  }

  void write() {
    report::remove_results(request_.out);  // of an earlier report on other traces
    const auto written = report::write_report(input_, request_.out);
    for (const auto& line : input_.notices.lines()) say("note: {}\n", line);
    for (const auto& line : written.left_out) say("note: {}\n", line);
    fmt::print("{}/report.html: {}, {}, {}\n", request_.out.string(),
               counted(input_.analyses.size(), "analysis", "analyses"), counted(written.tables, "table"),
               counted(written.figures, "figure"));
    if (input_.analyses.empty())
      throw InputError(
          fmt::format("{}/report.html: no analysis could be run; the page and the notes above say why",
                      request_.out.string()));
  }

  const ReportRequest& request_;
  analysis::RunOptions run_;  // with settings that traces were kept with
  const trace::Integrity integrity_;
  std::vector<analysis::TraceInput> traces_, tasks_;
  std::vector<NamedPath> evaluations_;
  std::vector<SiblingTable> siblings_;
  std::set<std::string> analysed_, left_out_;  // labels of traces that some analysis could be run on, or not
  std::map<std::string, std::set<std::string>> failed_;  // trace: ids of samples
  report::ReportInput input_;
};

}  // namespace

void build_report(const ReportRequest& request) {
  ReportBuilder(request).run();
}

}  // namespace buoy::study
