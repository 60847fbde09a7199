#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/options.h"
#include "experiment/chat_choice.h"
#include "experiment/loaded_model.h"
#include "experiment/prompter.h"

namespace buoy::app {

// Options shared by everything that runs a model.
struct ModelOptions {
  std::string folder;
  int threads = 0;  // 0: all cores this process may use
  std::string device = "auto";
};

void add_model_options(Command& command, ModelOptions& options);
void add_device_option(Command& command, std::string& device);
int thread_count(const ModelOptions& options);

// A prompt given as text or as ids.
struct PromptOptions {
  std::string text, file, ids;
  experiment::ChatChoice chat;
};

void add_prompt_options(Command& command, PromptOptions& options, const std::string& text_flag);

// Encodes the prompt with the folder's tokenizer; with ids none is needed.
experiment::Prompt make_prompt(const PromptOptions& options, const std::filesystem::path& folder,
                               const std::optional<text::Tokenizer>& tokenizer);

experiment::LoadedModel load_model(const ModelOptions& options);

std::vector<std::int32_t> parse_ids(const std::string& list);  // "1,2,3"

}  // namespace buoy::app
