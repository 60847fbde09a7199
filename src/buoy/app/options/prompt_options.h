#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "buoy/app/options/options.h"
#include "buoy/run/chat_choice.h"
#include "buoy/run/prompter.h"
#include "buoy/text/tokenizer/tokenizer.h"

namespace buoy::app {

// One rule for all commands: the chat template of the folder is used where it has one that Buoy knows. --chat
// demands it, and so do --system and --chat-style; --no-chat switches it off.
struct ChatOptions {
  bool chat = false, no_chat = false;
  run::ChatChoice choice;
};

void add_chat_options(Command& command, ChatOptions& options, const std::string& group = "Options");
run::ChatUse chat_use(const ChatOptions& options);
// What it comes to for a folder; standard error says so where nothing was said on the command line.
run::ChatChoice settle_chat(const ChatOptions& options, const std::filesystem::path& folder);

// A prompt given as text, in a file or as ids.
struct PromptOptions {
  std::string text, file, ids;
  ChatOptions chat;
};

// --prompt, --file and the chat template; returns --prompt.
Option* add_prompt_options(Command& command, PromptOptions& options);
void add_ids_option(Command& command, PromptOptions& options);

// The text of --prompt, or of --file ("-": standard input) without its last line end.
std::string prompt_text(const PromptOptions& options);

// Encodes the prompt with the folder's tokenizer; with ids none is needed.
run::Prompt make_prompt(const PromptOptions& options, const std::filesystem::path& folder,
                        const std::optional<text::Tokenizer>& tokenizer);

std::vector<std::int32_t> parse_ids(const std::string& list);  // "1,2,3"

}  // namespace buoy::app
