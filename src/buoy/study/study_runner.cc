#include "buoy/study/study_runner.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <thread>

#include "buoy/base/counted.h"
#include "buoy/base/environment_seconds.h"
#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"
#include "buoy/base/interrupt.h"
#include "buoy/base/progress.h"
#include "buoy/base/say.h"
#include "buoy/shard/progress_file.h"
#include "buoy/study/data/made_data.h"
#include "buoy/study/design/controls.h"
#include "buoy/study/evaluation_runner.h"
#include "buoy/study/merged_run.h"
#include "buoy/study/report_builder.h"
#include "buoy/trace/index.h"
#include "buoy/trace/parts/parts.h"

namespace buoy::study {
namespace {

class StudyRun {
 public:
  StudyRun(const StudyCall& call, Stopwatch& clock)
      : call_(call),
        plan_(call.plan),
        study_(call.plan.study()),
        twins_(untrained_twins(call.plan)),
        clock_(clock),
        device_(call.device),
        command_(call.command),
        threads_(call.threads > 0 ? call.threads : default_threads()) {
    for (const auto& trace : study_.traces)
      steps_ += plan_.models_of(trace.models).size() + twins_of(twins_, plan_, trace).size();
    steps_ += study_.evaluations.size() + 1;
  }

  void run() {
    fmt::print("{}\n", study_.title);
    for (const auto& data : study_.data) make_data(data);
    for (const auto& trace : study_.traces) {
      for (const auto* model : plan_.models_of(trace.models)) make_trace(trace, *model);
      for (const auto& twin : twins_of(twins_, plan_, trace)) make_trace(trace, twin.model);
    }
    for (const auto& evaluation : in_order(study_.evaluations)) evaluate(*evaluation);
    if (!call_.sharding) report();
  }

 private:
  void announce(const std::string& what) {
    const double seconds = std::chrono::duration<double>(Clock::now() - started_).count();
    fmt::print("== {} of {}: {} ({} so far)\n", ++step_, steps_, what, describe_duration(seconds));
    std::fflush(stdout);
    tell_stage(fmt::format("{} of {}: {}", step_, steps_, what));
  }

  static bool needs_trace(const study::EvaluateEntry& entry) {
    return entry.heads.has_value() || !entry.columns_from.empty();
  }

  // In parts, those that must wait for whole traces come last.
  std::vector<const study::EvaluateEntry*> in_order(const std::vector<study::EvaluateEntry>& entries) const {
    std::vector<const study::EvaluateEntry*> order;
    for (const auto& entry : entries) order.push_back(&entry);
    if (call_.sharding)
      std::stable_partition(order.begin(), order.end(),
                            [](const auto* entry) { return !needs_trace(*entry); });
    return order;
  }

  std::optional<run::Sharding> part_of(const std::filesystem::path& folder, const char* kind,
                                       const shard::RunFacts& more = {}) const {
    if (!call_.sharding) return std::nullopt;
    auto facts = call_.facts;
    facts.kind = kind;
    facts.resamples = more.resamples;
    facts.seed = more.seed;
    shard::begin_run(folder, facts);
    auto part = *call_.sharding;
    part.out = folder;
    return part;
  }

  // Until every part has its samples of the trace; then it is joined, by whoever comes.
  void wait_for_trace(const std::filesystem::path& folder) const {
    const auto facts = shard::read_facts(folder);
    if (!facts || is_merged(folder, *facts)) return;
    constexpr auto kPause = std::chrono::seconds(1);
    const double silent = environment_seconds("BUOY_WAIT_SECONDS", 30, 0, 86400);
    const auto began = Clock::now();
    for (;;) {
      const auto index = trace::read_index(folder);
      if (index.entries.size() == index.manifest.sample_ids.size()) break;
      stop_here();
      const auto all = shard::read_progress(call_.sharding->out, call_.sharding->shard.count);
      const bool anybody = std::any_of(all.begin(), all.end(), [&](const auto& part) {
        return part.shard != call_.sharding->shard.index && part.state == "running";
      });
      if (!anybody && std::chrono::duration<double>(Clock::now() - began).count() > silent)
        throw Stopped(
            fmt::format("{} is not whole, and no other part runs: start again behind them", folder.string()));
      std::this_thread::sleep_for(kPause);
    }
    trace::merge_parts(folder);
  }

  void make_data(const study::DataEntry& data) const {
    if (!data.is_made()) return;
    const std::string lines = made_lines(plan_, data);
    const auto file = plan_.data_file(data.name);
    make_folder(file.parent_path());
    if (!path_exists(file) || read_file(file) != lines) write_file_atomically(file, lines);
  }

  void make_trace(const study::TraceEntry& trace, const study::ModelEntry& model) {
    announce(fmt::format("tracing {} on {}", model.name, trace.data));
    const auto folder = plan_.model_folder(model);
    if (const auto facts = shard::read_facts(plan_.trace_folder(trace.name, model.name));
        call_.sharding && facts && is_merged(plan_.trace_folder(trace.name, model.name), *facts))
      return;
    auto loaded = model.untrained_seed ? run::make_untrained(folder, *model.untrained_seed, device_)
                                       : run::load_model(folder, device_);
    auto request = plan_.trace_request(trace, model);
    request.items = questions::read_items(plan_.data_file(trace.data), request.read);
    if (model.untrained_seed) request.items = control_items(request.items);
    request.decode = run::fitting(loaded.model.config().family, request.decode);
    auto run = run::make_trace_run(request, loaded);
    run.sharding = part_of(request.folder, "trace");
    clock_.lap("loading");
    ThreadPool threads(threads_);
    Progress bar(stderr, "sample", static_cast<std::int64_t>(request.items.size()));
    const auto result =
        run::run_trace({threads}, loaded, run,
                       {.begin = [](const auto&) {},
                        .step =
                            [&] {
                              bar.advance();
                              if (call_.step) call_.step();
                            },
                        .part =
                            [&](std::size_t samples, std::size_t before) {
                              if (call_.begin_part)
                                call_.begin_part(trace.name + "." + model.name, samples, before);
                            }});
    clock_.lap("decoding");
    for (const auto& [analysis, reason] : result.left_out)
      fmt::print("{}: {} is left out: {}\n", request.folder.string(), analysis, reason);
    if (!result.failed.empty())
      fmt::print("{}: {} of {} failed, the first with: {}\n", request.folder.string(), result.failed.size(),
                 counted(request.items.size(), "sample"), result.failed.front().error);
  }

  void evaluate(const study::EvaluateEntry& entry) {
    announce("asking questions: " + entry.name);
    if (call_.sharding && needs_trace(entry)) {
      for (const auto& trace : study_.traces) {
        const bool needed =
            (entry.heads && entry.heads->trace == trace.name) || entry.columns_from == trace.name;
        if (!needed) continue;
        for (const auto* model : plan_.models_of(trace.models))
          wait_for_trace(plan_.trace_folder(trace.name, model->name));
      }
    }
    EvaluationCall call;
    call.spec = plan_.evaluation_spec(entry);
    call.spec.threads = threads_;
    call.spec.device = device_;
    call.spec.conditions = plan_.conditions(entry);
    call.out = plan_.evaluation_folder(entry.name);
    call.resume = true;
    call.clock = &clock_;
    const auto sharding = part_of(
        call.out, "eval", {.kind = "eval", .resamples = call.resamples, .seed = call.spec.decode.seed});
    if (!sharding) return run_and_summarise(call);
    run::EvaluationProgress progress;
    progress.begin = [](std::size_t) {};
    progress.step = [&] {
      if (call_.step) call_.step();
    };
    progress.note = [](const std::string& text) { say("note: {}\n", text); };
    progress.clock = &clock_;
    progress.part = [&](std::size_t answers, std::size_t kept) {
      if (call_.begin_part) call_.begin_part(entry.name, answers, kept);
    };
    run::run_evaluation_part(call.spec, *sharding, progress);
  }

  void report() {
    announce("report");
    ReportRequest request;
    request.title = study_.title;
    const auto for_all = std::count_if(study_.traces.begin(), study_.traces.end(),
                                       [](const auto& trace) { return !trace.tasks_only; });
    for (const auto& trace : study_.traces) {
      const auto add = [&](const std::string& model) {
        const auto folder = plan_.trace_folder(trace.name, model);
        const std::string label = trace.name + "." + model;
        request.tasks.push_back({label, folder});
        if (!trace.tasks_only) request.traces.push_back({for_all == 1 ? model : label, folder});
        request.origins[folder] = {model, trace.name};
      };
      for (const auto* model : plan_.models_of(trace.models)) add(model->name);
      for (const auto& twin : twins_of(twins_, plan_, trace)) add(twin.model.name);
    }
    for (const auto& entry : study_.evaluations)
      request.evaluations.push_back({entry.name, plan_.evaluation_folder(entry.name)});
    const auto add_network = [&](const study::ModelEntry& model) {
      claims::Network network{model.name};
      network.arm = model.arm.empty() ? model.name : model.arm;
      request.networks.push_back(network);
    };
    for (const auto& model : study_.models) add_network(model);
    for (const auto& twin : twins_) add_network(twin.model);
    for (const auto& file : study_.siblings) request.siblings.push_back(plan_.beside(file));
    for (const auto& data : study_.data) {
      if (data.description.empty()) continue;
      report::QuestionSet set{data.name, data.description, {}};
      for (const auto& trace : study_.traces) {
        if (trace.data == data.name) set.traces.push_back(trace.name);
      }
      request.sets.push_back(std::move(set));
    }
    if (study_.published) {
      request.published = read_published(plan_.beside(study_.published->file), study_.published->papers);
      tell_shapes(request, for_all == 1);
    }
    request.analyses = study_.report.analyses;
    request.out = plan_.report_folder();
    request.command = command_;
    build_report(request);
    clock_.lap("report");
    fmt::print("Open {}\n", (request.out / "report.html").string());
  }

  // Networks by the labels that tables have: models by their names, traces by theirs.
  void tell_shapes(ReportRequest& request, bool by_model) const {
    for (const auto& model : study_.models) {
      const auto config = read_config(plan_.model_folder(model));
      const NetworkShape shape{std::string(name_of(config.family)), config.layers};
      request.shapes[model.name] = shape;
      for (const auto& trace : study_.traces) {
        if (!by_model) request.shapes[trace.name + "." + model.name] = shape;
      }
    }
  }

  using Clock = std::chrono::steady_clock;

  const StudyCall& call_;
  const StudyPlan& plan_;
  const study::Study& study_;
  std::vector<Twin> twins_;
  Stopwatch& clock_;
  Device device_;
  std::string command_;
  int threads_;
  std::size_t step_ = 0, steps_ = 0;
  Clock::time_point started_ = Clock::now();
};

}  // namespace

void run_study(const StudyCall& call, Stopwatch& clock) {
  StudyRun(call, clock).run();
}

}  // namespace buoy::study
