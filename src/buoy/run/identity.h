#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "buoy/model/model.h"
#include "buoy/run/decoding.h"
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
nlohmann::json describe_decoding(const DecodeOptions& decoding);
std::string describe_machine();

}  // namespace buoy::run
