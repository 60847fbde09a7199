#include "buoy/study/study_plan.h"

#include <algorithm>

#include "buoy/base/attempt.h"
#include "buoy/base/file/files.h"
#include "buoy/checkpoint/hub_cache.h"
#include "buoy/questions/prompt/builtin_prompts.h"
#include "buoy/result/schema/retrieval.h"
#include "buoy/run/attention_features.h"

namespace buoy::study {
namespace {

namespace fs = std::filesystem;

template <typename T>
const T* find_named(const std::vector<T>& list, const std::string& name) {
  const auto found = std::find_if(list.begin(), list.end(), [&](const T& one) { return one.name == name; });
  return found == list.end() ? nullptr : &*found;
}

}  // namespace

fs::path StudyPlan::beside(const fs::path& written) const {
  return written.is_absolute() ? written : (study_.file.parent_path() / written).lexically_normal();
}

bool StudyPlan::is_id(const study::ModelEntry& model) const {
  return is_model_id(model.path.string()) && !path_exists(beside(model.path)) && !path_exists(model.path);
}

fs::path StudyPlan::model_folder(const study::ModelEntry& model) const {
  if (!model.expected) return found_folder(model);
  fs::path folder;
  const bool there = !attempt([&] { folder = found_folder(model); }) && path_exists(folder);
  return there ? folder : beside(model.expected->config);
}

fs::path StudyPlan::found_folder(const study::ModelEntry& model) const {
  if (is_id(model)) return find_model(model.path.string());
  const auto folder = beside(model.path);
  return path_exists(folder) ? find_model(folder.string()) : folder;
}

std::string StudyPlan::prompt_template(const std::string& name_or_file) const {
  const auto& builtin = questions::builtin_prompts();
  const bool is_name = std::any_of(builtin.begin(), builtin.end(),
                                   [&](const auto& prompt) { return prompt.name == name_or_file; });
  return name_or_file.empty() || is_name || name_or_file == questions::kReadyPrompts
             ? name_or_file
             : beside(name_or_file).string();
}

fs::path StudyPlan::data_file(const std::string& name) const {
  const auto* entry = data(name);
  if (entry == nullptr) return {};
  return entry->is_made() ? study_.out / "data" / (name + ".jsonl") : beside(entry->file);
}

fs::path StudyPlan::trace_folder(const std::string& trace, const std::string& model) const {
  return study_.out / "traces" / (trace + "." + model);
}

fs::path StudyPlan::evaluation_folder(const std::string& name) const {
  return study_.out / "evaluate" / name;
}

const study::DataEntry* StudyPlan::data(const std::string& name) const {
  return find_named(study_.data, name);
}

const study::TraceEntry* StudyPlan::trace(const std::string& name) const {
  return find_named(study_.traces, name);
}

std::vector<const study::ModelEntry*> StudyPlan::models_of(const std::vector<std::string>& names) const {
  std::vector<const study::ModelEntry*> out;
  for (const auto& model : study_.models) {
    if (names.empty() ||
        std::any_of(names.begin(), names.end(), [&](const auto& name) { return model.is_called(name); }))
      out.push_back(&model);
  }
  return out;
}

run::DecodeOptions StudyPlan::decoding() const {
  run::DecodeOptions out;
  out.max_new_tokens = 32;
  study_.decoding.apply_to(out);
  return out;
}

run::DecodeOptions StudyPlan::decoding(const study::ModelEntry& model) const {
  auto out = decoding();
  model.decoding.apply_to(out);
  return out;
}

run::ChatChoice StudyPlan::chat() const {
  return {false, study_.prompt.system, study_.prompt.style, study_.prompt.no_thinking};
}

run::ChatUse StudyPlan::chat_use() const {
  return study_.prompt.chat == "always"  ? run::ChatUse::kAlways
         : study_.prompt.chat == "never" ? run::ChatUse::kNever
                                         : run::ChatUse::kWhenThereIsOne;
}

run::Request StudyPlan::completed(run::Request request) const {
  const std::string& own = request.prompt_template;
  request.prompt_template = prompt_template(own.empty() ? study_.prompt.with_passages : own);
  request.chat = chat();
  request.chat_use = chat_use();
  request.decode = decoding();
  if (request.observe == "features") request.observe = run::kFeatureObservables;
  return request;
}

std::vector<std::string> StudyPlan::kept_analyses(const study::TraceEntry& trace,
                                                  const observe::Plan& observed) const {
  const auto& wanted = study_.report.analyses;
  const bool gives_heads =
      std::any_of(study_.evaluations.begin(), study_.evaluations.end(),
                  [&](const auto& e) { return e.heads && e.heads->trace == trace.name; });
  auto names = run::analyses_within(observed, !wanted.empty());
  std::erase_if(names, [&](const std::string& name) {
    if (name == schema::kRetrieval.name && gives_heads) return false;
    if (trace.tasks_only && !analysis::find_analysis(name).of_tasks) return true;
    return !wanted.empty() && std::find(wanted.begin(), wanted.end(), name) == wanted.end();
  });
  return names;
}

run::TraceRequest StudyPlan::trace_request(const study::TraceEntry& trace,
                                           const study::ModelEntry& model) const {
  run::TraceRequest request;
  static_cast<run::Request&>(request) = completed(trace.request);
  request.folder = trace_folder(trace.name, model.name);
  request.command = "buoy study";
  request.chat = run::settle(request.chat_use, request.chat, model_folder(model));
  request.resume = true;
  request.decode = decoding(model, trace);
  if (request.keep != trace::Level::kFull) request.analyses.names = kept_analyses(trace, request.plan());
  return request;
}

run::EvaluationSpec StudyPlan::evaluation_spec(const study::EvaluateEntry& entry) const {
  run::EvaluationSpec spec;
  static_cast<run::Request&>(spec) = completed(entry.request);
  for (const auto* model : models_of(entry.models)) {
    spec.models.push_back({model->name, model_folder(*model)});
    spec.decode_of_model[model->name] = decoding(*model, entry);
  }
  for (const auto& name : entry.data) spec.data.push_back({name, data_file(name)});
  spec.closed_book_prompt = prompt_template(study_.prompt.closed_book);
  spec.keep_text_after_end = study_.prompt.keep_text_after_end;
  spec.first_line_only = study_.prompt.first_line;
  if (study_.prompt.published_normalisation) spec.normalisation = questions::Normalisation::kPublished;
  return spec;
}

run::ConditionRequest StudyPlan::condition_request(const study::EvaluateEntry& entry) const {
  run::ConditionRequest request;
  const auto& arrangement = entry.request.arrangement;
  static_cast<run::Arrangement&>(request.base) = arrangement;
  request.base.noise_kind = questions::noise_from_name(entry.noise_kind);
  request.closed_book = entry.closed_book;
  request.with_passages = arrangement.passages >= 0 || arrangement.noise || arrangement.gold_position > 0 ||
                          !entry.sweep.empty() || entry.heads || !entry.columns_from.empty();
  request.sweep = entry.sweep;
  request.hide_top_of = entry.hide_top_of;
  request.hide_control = entry.hide_control;
  if (entry.heads) {
    request.heads = run::HeadStudy{{}, entry.heads->share, entry.heads->controls};
    for (const auto* model : models_of(entry.models))
      request.heads->traces[model->name] = trace_folder(entry.heads->trace, model->name);
  }
  if (!entry.columns_from.empty()) {
    for (const auto* model : models_of(entry.models))
      request.columns[model->name] = trace_folder(entry.columns_from, model->name);
  }
  return request;
}

std::vector<run::Condition> StudyPlan::with_templates(std::vector<run::Condition> conditions) const {
  for (auto& condition : conditions) {
    if (condition.prompt) condition.prompt = prompt_template(*condition.prompt);
  }
  return conditions;
}

std::vector<run::Condition> StudyPlan::conditions(const study::EvaluateEntry& entry) const {
  return with_templates(run::make_conditions(condition_request(entry)));
}

std::vector<run::Condition> StudyPlan::expected_conditions(const study::EvaluateEntry& entry) const {
  auto request = condition_request(entry);
  if (request.heads) request.heads->traces.clear();
  return with_templates(run::make_conditions(request));
}

}  // namespace buoy::study
