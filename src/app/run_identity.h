#pragma once

#include "app/decode_options.h"
#include "model/model.h"
#include "trace/manifest.h"

namespace buoy::app {

// What decides the bytes of a trace, and what says where it was made: model, tokenizer, decoding, machine.
trace::Manifest describe_run(const model::Model& model, const DecodeOptions& decoding);

// The command as typed, for the manifest; set once by main.
void remember_command(int argc, char** argv);
const std::string& command_as_typed();

}  // namespace buoy::app
