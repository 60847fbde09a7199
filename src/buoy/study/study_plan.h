#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "buoy/run/evaluation.h"
#include "buoy/run/trace_request.h"
#include "buoy/study/study.h"

namespace buoy::study {

// What a study means: its paths, and the settings of each of its parts. Checking a study and running it read
// the same plan, so that what was checked is what runs.
class StudyPlan {
 public:
  explicit StudyPlan(study::Study study) : study_(std::move(study)) {}

  const study::Study& study() const { return study_; }

  // Models, data and templates are relative to the study's file; templates may be built-in names, models ids
  // in the Hugging Face cache (see find_model, whose errors these are).
  // Of one that is not there: what the study expects of it, if it says so.
  std::filesystem::path model_folder(const study::ModelEntry& model) const;
  std::filesystem::path found_folder(const study::ModelEntry& model) const;  // the model itself
  // Whether a model is not meant as a path: nothing is there, and it reads like an id.
  bool is_id(const study::ModelEntry& model) const;
  std::filesystem::path beside(const std::filesystem::path& written) const;
  std::string prompt_template(const std::string& name_or_file) const;

  // Results are relative to where the program runs.
  std::filesystem::path data_file(const std::string& name) const;  // "" where there is no such data
  std::filesystem::path trace_folder(const std::string& trace, const std::string& model) const;
  std::filesystem::path evaluation_folder(const std::string& name) const;
  std::filesystem::path report_folder() const { return study_.out / "report"; }

  const study::DataEntry* data(const std::string& name) const;  // null: there is none
  const study::TraceEntry* trace(const std::string& name) const;
  std::vector<const study::ModelEntry*> models_of(const std::vector<std::string>& names) const;

  // What a part's own settings leave open, the model's say, then the study's; those of no model are the
  // study's.
  run::DecodeOptions decoding() const;
  run::DecodeOptions decoding(const study::ModelEntry& model) const;
  template <typename Part>
  run::DecodeOptions decoding(const study::ModelEntry& model, const Part& part) const {
    auto out = decoding(model);
    part.decoding.apply_to(out);
    return out;
  }
  run::ChatChoice chat() const;
  run::ChatUse chat_use() const;

  // The request of a part with what the study says for all of them.
  run::Request completed(run::Request request) const;
  // Those whose states a trace keeps: what the report shows of it, and what heads are chosen by.
  std::vector<std::string> kept_analyses(const study::TraceEntry& trace, const observe::Plan& observed) const;
  // All but the items and what only a loaded model tells.
  run::TraceRequest trace_request(const study::TraceEntry& trace, const study::ModelEntry& model) const;

  // All but the conditions, and how it is run.
  run::EvaluationSpec evaluation_spec(const study::EvaluateEntry& entry) const;
  // Those that heads and columns need read traces.
  std::vector<run::Condition> conditions(const study::EvaluateEntry& entry) const;
  // The same without a look into traces: as many, and alike in all that decides sizes.
  std::vector<run::Condition> expected_conditions(const study::EvaluateEntry& entry) const;

 private:
  run::ConditionRequest condition_request(const study::EvaluateEntry& entry) const;
  std::vector<run::Condition> with_templates(std::vector<run::Condition> conditions) const;

  study::Study study_;
};

}  // namespace buoy::study
