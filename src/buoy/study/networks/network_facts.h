#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "buoy/trace/manifest.h"

// What makes numbers of two networks comparable: the questions they were asked, and how.
namespace buoy::study {

// SHA-256 of the samples, their prompts and texts, and the decoding settings of a trace. Equal for two
// networks that were asked the same in the same way.
std::string questions_of(const trace::Manifest& manifest);
// The same samples by their ids, whatever the tokenizer: "24 questions, 1a2b3c4d".
std::string data_of(const trace::Manifest& manifest);

// The same of every model of a run of buoy eval, by its name.
struct ModelOfRun {
  std::string questions, weights;
};
std::map<std::string, ModelOfRun> models_of_run(const std::filesystem::path& folder);

}  // namespace buoy::study
