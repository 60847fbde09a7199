#include "app/study_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>

#include "analysis/analysis.h"
#include "app/evaluation_runner.h"
#include "app/report_builder.h"
#include "app/world_options.h"
#include "base/error.h"
#include "base/files.h"
#include "base/json_file.h"
#include "base/progress.h"
#include "checkpoint/config.h"
#include "evaluate/item_json.h"
#include "evaluate/prompt_template.h"
#include "experiment/attention_features.h"
#include "experiment/trace_request.h"

namespace buoy::app {
namespace {

namespace fs = std::filesystem;

// What a model's own settings leave open, the study's say.
experiment::DecodeOptions decoding_of(const study::Decoding& common, const study::Decoding& own) {
  experiment::DecodeOptions out;
  out.max_new_tokens = 32;
  for (const auto* d : {&common, &own}) {
    if (d->max_new_tokens) out.max_new_tokens = static_cast<std::int32_t>(*d->max_new_tokens);
    if (d->steps) out.steps = static_cast<std::int32_t>(*d->steps);
    if (d->block_length) out.block_length = static_cast<std::int32_t>(*d->block_length);
    if (d->algorithm) out.algorithm = d->algorithm;
    if (d->temperature) out.temperature = *d->temperature;
    if (d->top_p) out.top_p = d->top_p;
    if (d->top_k) out.top_k = d->top_k;
    if (d->alg_temp) out.alg_temp = d->alg_temp;
    if (d->eps) out.eps = d->eps;
    if (d->cfg_scale) out.cfg_scale = d->cfg_scale;
    if (d->repetition_penalty) out.repetition_penalty = d->repetition_penalty;
    if (d->seed) out.seed = static_cast<std::uint64_t>(*d->seed);
  }
  return out;
}

class StudyRun {
 public:
  explicit StudyRun(const StudyCall& call)
      : study_(call.study),
        device_(call.device),
        threads_(call.threads > 0 ? call.threads : available_threads()) {
    for (const auto& trace : study_.traces) steps_ += models_of(trace.models).size();
    steps_ += study_.evaluations.size() + 1;
  }

  // What can be known to go wrong is said before the work, not hours later.
  void check() const {
    for (const auto& model : study_.models) {
      if (!path_exists(model.path))
        throw_input_error(
            {"models." + model.name, "a Hugging Face folder at " + model.path.string(), "nothing"});
      read_config(model.path);
    }
    for (const auto& data : study_.data) named("data " + data.name, [&] { check_data(data); });
    named("prompt", [&] {
      check_template(study_.prompt.with_passages);
      check_template(study_.prompt.closed_book);
    });
    for (const auto& trace : study_.traces) {
      named("trace " + trace.name, [&] {
        check_template(trace.prompt);
        const auto plan = observe::parse_plan(trace.observe, trace.layers, trace.steps_observed);
        for (const auto* model : models_of(trace.models)) plan.layers.below(read_config(model->path).layers);
        if (trace.groups != "regions") observe::QueryGroups::parse(trace.groups, {});
      });
    }
    for (const auto& entry : study_.evaluations) {
      named("evaluate " + entry.name, [&] {
        check_template(entry.prompt);
        if (!entry.observe.empty()) observe::parse_plan(observables(entry), "", "");
        const int kinds =
            (entry.sweep.empty() ? 0 : 1) + (entry.heads ? 1 : 0) + (entry.columns_from.empty() ? 0 : 1);
        if (kinds > 1) throw_usage_error({"conditions", "a sweep, heads or columns_from", "more than one"});
        if (entry.heads && !(entry.heads->share > 0 && entry.heads->share < 1))
          throw_usage_error(
              {"heads.share", "more than 0 and less than 1", fmt::format("{:g}", entry.heads->share)});
        // Those of heads and columns are made from traces.
        if (entry.heads || !entry.columns_from.empty()) return;
        for (const auto& condition : conditions(entry)) check_template(condition.prompt.value_or(""));
      });
    }
    for (const auto& name : study_.report.analyses) named("report", [&] { analysis::find_analysis(name); });
  }

  void run() {
    check();
    fmt::print("{}\n", study_.title);
    for (const auto& data : study_.data) make_data(data);
    for (const auto& trace : study_.traces) {
      for (const auto* model : models_of(trace.models)) make_trace(trace, *model);
    }
    for (const auto& evaluation : study_.evaluations) evaluate(evaluation);
    report();
  }

 private:
  static void check_template(const std::string& name_or_file) {
    if (!name_or_file.empty()) evaluate::PromptTemplate::load(name_or_file);
  }

  // What is refused is refused of this part of the study.
  static void named(const std::string& part, const std::function<void()>& check) {
    try {
      check();
    } catch (const UsageError& error) {
      throw InputError(part + ": " + error.what());
    }
  }

  void check_data(const study::DataEntry& data) const {
    if (data.world) {
      evaluate::make_world_set(evaluate::World(), world_options(*data.world));
      return;
    }
    if (!path_exists(data.file)) throw_input_error({"data " + data.name, data.file.string(), "nothing"});
    const bool asked =
        std::any_of(study_.evaluations.begin(), study_.evaluations.end(), [&](const auto& entry) {
          return std::find(entry.data.begin(), entry.data.end(), data.name) != entry.data.end();
        });
    evaluate::read_items(data.file, {.require_answers = asked, .limit = 1});
  }

  static std::string observables(const study::EvaluateEntry& entry) {
    return entry.observe == "features" ? experiment::kFeatureObservables : entry.observe;
  }

  static evaluate::WorldSetOptions world_options(const study::WorldEntry& w) {
    evaluate::WorldSetOptions options;
    options.people = world_people(w.people);
    options.noise = evaluate::world_noise_from_name(w.noise);
    options.count = static_cast<std::uint32_t>(w.count);
    options.passages = static_cast<std::uint32_t>(w.passages);
    options.gold_position = static_cast<std::uint32_t>(w.gold_position);
    options.two_hop = w.two_hop;
    options.seed = static_cast<std::uint64_t>(w.seed);
    return options;
  }

  void announce(const std::string& what) {
    const double seconds = std::chrono::duration<double>(Clock::now() - started_).count();
    fmt::print("== {} of {}: {} ({} so far)\n", ++step_, steps_, what, describe_duration(seconds));
    std::fflush(stdout);
  }

  std::vector<const study::ModelEntry*> models_of(const std::vector<std::string>& names) const {
    std::vector<const study::ModelEntry*> out;
    for (const auto& model : study_.models) {
      if (names.empty() || std::find(names.begin(), names.end(), model.name) != names.end())
        out.push_back(&model);
    }
    return out;
  }

  fs::path data_file(const std::string& name) const {
    const auto data = std::find_if(study_.data.begin(), study_.data.end(),
                                   [&](const study::DataEntry& entry) { return entry.name == name; });
    return data->world ? study_.out / "data" / (name + ".jsonl") : data->file;
  }

  fs::path trace_folder(const std::string& trace, const std::string& model) const {
    return study_.out / "traces" / (trace + "." + model);
  }

  void make_data(const study::DataEntry& data) const {
    if (!data.world) return;
    std::string lines;
    for (const auto& item : evaluate::make_world_set(evaluate::World(), world_options(*data.world)))
      lines += dump_json(evaluate::item_json(item)) + '\n';
    make_folder(study_.out / "data");
    const auto file = data_file(data.name);
    if (!path_exists(file) || read_file(file) != lines) write_file_atomically(file, lines);
  }

  experiment::ChatChoice chat() const {
    return {false, study_.prompt.system, study_.prompt.style, study_.prompt.no_thinking};
  }

  experiment::ChatUse chat_use() const {
    return study_.prompt.chat == "always"  ? experiment::ChatUse::kAlways
           : study_.prompt.chat == "never" ? experiment::ChatUse::kNever
                                           : experiment::ChatUse::kWhenThereIsOne;
  }

  void make_trace(const study::TraceEntry& trace, const study::ModelEntry& model) {
    announce(fmt::format("tracing {} on {}", model.name, trace.data));
    evaluate::ReadOptions read;
    read.require_answers = false;
    if (trace.limit > 0) read.limit = static_cast<std::size_t>(trace.limit);
    auto loaded = experiment::load_model(model.path, device_);
    experiment::TraceRequest request;
    request.folder = trace_folder(trace.name, model.name);
    request.command = "buoy study";
    request.items = evaluate::read_items(data_file(trace.data), read);
    request.prompt_template = trace.prompt.empty() ? study_.prompt.with_passages : trace.prompt;
    request.chat = experiment::settle(chat_use(), chat(), model.path);
    request.passages = trace.passages;
    request.gold_position = trace.gold_position;
    request.observe = trace.observe;
    request.layers = trace.layers;
    request.steps_observed = trace.steps_observed;
    request.groups = trace.groups;
    request.float16 = trace.float16;
    request.resume = true;
    request.decode = experiment::fitting(loaded.model, decoding_of(study_.decoding, model.decoding));
    const auto run = experiment::make_trace_run(request, loaded);
    ThreadPool threads(threads_);
    Progress bar(stderr, "sample", static_cast<std::int64_t>(request.items.size()));
    experiment::run_trace({threads}, loaded, run,
                          {.begin = [](const auto&) {}, .step = [&] { bar.advance(); }});
  }

  void evaluate(const study::EvaluateEntry& entry) {
    announce("asking questions: " + entry.name);
    EvaluationCall call;
    auto& spec = call.spec;
    for (const auto* model : models_of(entry.models)) {
      spec.models.push_back({model->name, model->path});
      spec.decode_of_model[model->name] = decoding_of(study_.decoding, model->decoding);
    }
    for (const auto& name : entry.data) spec.data.push_back({name, data_file(name)});
    spec.decode = decoding_of(study_.decoding, {});
    spec.prompt = entry.prompt.empty() ? study_.prompt.with_passages : entry.prompt;
    spec.closed_book_prompt = study_.prompt.closed_book;
    spec.chat = chat();
    spec.chat_use = chat_use();
    spec.keep_text_after_end = study_.prompt.keep_text_after_end;
    spec.first_line_only = study_.prompt.first_line;
    if (study_.prompt.published_normalisation) spec.normalisation = evaluate::Normalisation::kPublished;
    if (entry.limit > 0) spec.read.limit = static_cast<std::size_t>(entry.limit);
    spec.observe = observables(entry);
    spec.threads = threads_;
    spec.device = device_;
    spec.conditions = conditions(entry);
    call.out = study_.out / "evaluate" / entry.name;
    call.resume = true;
    run_and_summarise(call);
  }

  std::vector<experiment::Condition> conditions(const study::EvaluateEntry& entry) const {
    experiment::ConditionRequest request;
    request.base.passages = entry.passages.value_or(-1);
    request.base.gold_position = entry.gold_position.value_or(0);
    request.base.gold_by_answer = entry.gold_by_answer;
    request.base.noise_kind = evaluate::noise_from_name(entry.noise_kind);
    if (entry.noise) request.base.noise = static_cast<std::size_t>(*entry.noise);
    request.closed_book = entry.closed_book;
    request.with_passages = entry.passages || entry.noise || entry.gold_position || !entry.sweep.empty() ||
                            entry.heads || !entry.columns_from.empty();
    request.sweep = entry.sweep;
    if (entry.heads) {
      request.heads = experiment::HeadStudy{{}, entry.heads->share, entry.heads->controls};
      for (const auto* model : models_of(entry.models))
        request.heads->traces[model->name] = trace_folder(entry.heads->trace, model->name);
    }
    if (!entry.columns_from.empty()) {
      for (const auto* model : models_of(entry.models))
        request.columns[model->name] = trace_folder(entry.columns_from, model->name);
    }
    return experiment::make_conditions(request);
  }

  void report() {
    announce("report");
    ReportRequest request;
    const auto for_all = std::count_if(study_.traces.begin(), study_.traces.end(),
                                       [](const auto& trace) { return !trace.tasks_only; });
    for (const auto& trace : study_.traces) {
      for (const auto* model : models_of(trace.models)) {
        const std::string folder = "=" + trace_folder(trace.name, model->name).string();
        const std::string label = trace.name + "." + model->name;
        request.tasks.push_back(label + folder);
        if (!trace.tasks_only) request.call.traces.push_back((for_all == 1 ? model->name : label) + folder);
      }
    }
    for (const auto& entry : study_.evaluations)
      request.evaluations.push_back(entry.name + "=" + (study_.out / "evaluate" / entry.name).string());
    request.analyses = study_.report.analyses;
    request.out = study_.out / "report";
    build_report(request);
    fmt::print("Open {}\n", (request.out / "report.html").string());
  }

  using Clock = std::chrono::steady_clock;

  const study::Study& study_;
  Device device_;
  int threads_;
  std::size_t step_ = 0, steps_ = 0;
  Clock::time_point started_ = Clock::now();
};

}  // namespace

void check_study(const StudyCall& call) {
  StudyRun(call).check();
}

void run_study(const StudyCall& call) {
  StudyRun(call).run();
}

}  // namespace buoy::app
