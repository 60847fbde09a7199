#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "buoy/model/model.h"
#include "buoy/run/evaluation.h"
#include "buoy/run/score/score_run.h"
#include "buoy/trace/manifest.h"

namespace buoy::run {

// What decides the bytes of a trace, and what says where it was made: model, tokenizer, decoding, machine.
// `command` is as typed.
trace::Manifest describe_run(const model::Model& model, const DecodeOptions& decoding,
                             const std::string& command);

// Checksums of the config, the weights' index and the tokenizer of a folder.
nlohmann::json describe_model_files(const std::filesystem::path& folder);
// Fails unless the trace was made with the weights of this folder.
void require_trace_of(const std::filesystem::path& trace, const std::filesystem::path& model_folder);
std::string describe_machine();

// What of a request is stored, so that a run goes on only as it began.
nlohmann::json describe_decoding(const DecodeOptions& decoding);
nlohmann::json describe(const Condition& condition);
// `probe` of a trace's manifest. `prompts_sum` is of all prompts: templates and data are files that change.
nlohmann::json describe_observed(const Request& request, Device device, const std::string& prompts_sum);
// The same of a trace that an evaluation makes.
nlohmann::json describe_observed(const EvaluationSpec& spec, const Condition& condition);
// What a request calls a field of a trace's manifest: "`keep` (level)"; as it is where nothing is asked of
// it.
std::string asked_as(const std::string& field);

struct DataFacts {
  std::size_t items = 0;
  std::size_t with_passages = 0;
  std::string ready = {};  // the first item with a ready prompt beside its question; "": none has one
  std::string sha256;
  // Of each item: its id, and how long question and passages are.
  struct Bytes {
    std::size_t question = 0, passages = 0;
  };
  std::vector<std::string> ids = {};
  std::vector<Bytes> bytes = {};
};

// score.json: what was scored, by whom, how. `command` is as typed.
nlohmann::json describe_score(const ScoreRequest& request, const model::Model& model,
                              const std::string& data_sha256, const std::string& command);

// run.json: what was asked, of whom, how. Two runs with equal descriptions give equal answers.
nlohmann::json describe_evaluation(const EvaluationSpec& spec, const std::vector<DataFacts>& data);

}  // namespace buoy::run
