#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "model/model.h"
#include "text/chat_template.h"
#include "text/tokenizer.h"

namespace buoy::app {

// Options shared by everything that runs a model.
struct ModelOptions {
  std::string folder;
  int threads = 0;  // 0: all cores this process may use
};

void add_model_options(CLI::App& command, ModelOptions& options);
int thread_count(const ModelOptions& options);

// A prompt given as text or as ids.
struct PromptOptions {
  std::string text, file, ids;
  bool chat = false;
  std::string system, chat_style;
  bool no_thinking = false;
};

void add_prompt_options(CLI::App& command, PromptOptions& options, const std::string& text_flag);

struct Prompt {
  std::vector<std::int32_t> ids;
  std::string rendered;               // "" when given as ids
  std::vector<text::ByteSpan> spans;  // of each id in `rendered`
};

// The text as a user's message in the model's chat template.
std::string render_user_message(const PromptOptions& options, const std::filesystem::path& folder,
                                const std::string& text);

// Encodes the prompt with the folder's tokenizer; with ids none is needed.
Prompt make_prompt(const PromptOptions& options, const std::filesystem::path& folder,
                   const std::optional<text::Tokenizer>& tokenizer);

bool has_tokenizer(const std::filesystem::path& folder);
// A token without an embedding row would crash any model: refused here, where both are known.
void check_vocabulary(const text::Tokenizer& tokenizer, const ModelConfig& config,
                      const std::filesystem::path& folder);

// A model with the tokenizer of its folder, if there is one, the two checked against each other.
struct LoadedModel {
  model::Model model;
  std::optional<text::Tokenizer> tokenizer;
};
LoadedModel load_model(const ModelOptions& options);

std::vector<std::int32_t> parse_ids(const std::string& list);  // "1,2,3"

}  // namespace buoy::app
