#include "buoy/study/study_runner.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>

#include "buoy/base/counted.h"
#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"
#include "buoy/base/progress.h"
#include "buoy/questions/data/item_json.h"
#include "buoy/study/design/controls.h"
#include "buoy/study/evaluation_runner.h"
#include "buoy/study/report_builder.h"

namespace buoy::study {
namespace {

class StudyRun {
 public:
  StudyRun(const StudyCall& call, Stopwatch& clock)
      : plan_(call.plan),
        study_(call.plan.study()),
        twins_(untrained_twins(call.plan)),
        clock_(clock),
        device_(call.device),
        command_(call.command),
        threads_(call.threads > 0 ? call.threads : available_threads()) {
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
    for (const auto& evaluation : study_.evaluations) evaluate(evaluation);
    report();
  }

 private:
  void announce(const std::string& what) {
    const double seconds = std::chrono::duration<double>(Clock::now() - started_).count();
    fmt::print("== {} of {}: {} ({} so far)\n", ++step_, steps_, what, describe_duration(seconds));
    std::fflush(stdout);
    tell_stage(fmt::format("{} of {}: {}", step_, steps_, what));
  }

  void make_data(const study::DataEntry& data) const {
    if (!data.world) return;
    std::string lines;
    for (const auto& item : world::make_questions(*data.world))
      lines += dump_json(questions::item_json(item)) + '\n';
    const auto file = plan_.data_file(data.name);
    make_folder(file.parent_path());
    if (!path_exists(file) || read_file(file) != lines) write_file_atomically(file, lines);
  }

  void make_trace(const study::TraceEntry& trace, const study::ModelEntry& model) {
    announce(fmt::format("tracing {} on {}", model.name, trace.data));
    const auto folder = plan_.model_folder(model);
    auto loaded = model.untrained_seed ? run::make_untrained(folder, *model.untrained_seed, device_)
                                       : run::load_model(folder, device_);
    auto request = plan_.trace_request(trace, model);
    request.items = questions::read_items(plan_.data_file(trace.data), request.read);
    if (model.untrained_seed) request.items = control_items(request.items);
    request.decode = run::fitting(loaded.model.config().family, request.decode);
    const auto run = run::make_trace_run(request, loaded);
    clock_.lap("loading");
    ThreadPool threads(threads_);
    Progress bar(stderr, "sample", static_cast<std::int64_t>(request.items.size()));
    const auto result =
        run::run_trace({threads}, loaded, run, {.begin = [](const auto&) {}, .step = [&] { bar.advance(); }});
    clock_.lap("decoding");
    for (const auto& [analysis, reason] : result.left_out)
      fmt::print("{}: {} is left out: {}\n", request.folder.string(), analysis, reason);
    if (!result.failed.empty())
      fmt::print("{}: {} of {} failed, the first with: {}\n", request.folder.string(), result.failed.size(),
                 counted(request.items.size(), "sample"), result.failed.front().error);
  }

  void evaluate(const study::EvaluateEntry& entry) {
    announce("asking questions: " + entry.name);
    EvaluationCall call;
    call.spec = plan_.evaluation_spec(entry);
    call.spec.threads = threads_;
    call.spec.device = device_;
    call.spec.conditions = plan_.conditions(entry);
    call.out = plan_.evaluation_folder(entry.name);
    call.resume = true;
    call.clock = &clock_;
    run_and_summarise(call);
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
    request.analyses = study_.report.analyses;
    request.out = plan_.report_folder();
    request.command = command_;
    build_report(request);
    clock_.lap("report");
    fmt::print("Open {}\n", (request.out / "report.html").string());
  }

  using Clock = std::chrono::steady_clock;

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
