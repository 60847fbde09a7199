#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "experiment/decoding.h"
#include "model/model.h"
#include "trace/manifest.h"

namespace buoy::experiment {

// What decides the bytes of a trace, and what says where it was made: model, tokenizer, decoding, machine.
// `command` is as typed.
trace::Manifest describe_run(const model::Model& model, const DecodeOptions& decoding,
                             const std::string& command);

// Checksums of the config, the weights' index and the tokenizer of a folder.
nlohmann::json describe_model_files(const std::filesystem::path& folder);
// Fails unless the trace was made with the weights of this folder.
void require_trace_of(const std::filesystem::path& trace, const std::filesystem::path& model_folder);
nlohmann::json describe_decoding(const DecodeOptions& decoding);
std::string describe_machine();

}  // namespace buoy::experiment
