#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/model_folder.h"
#include "evaluate/item.h"
#include "observe/query_groups.h"

namespace buoy::app {

// Where prompts come from and how items of a data set become text.
struct PromptSource {
  PromptOptions prompt;
  std::string data;
  std::string prompt_template;     // name of a built-in one or a file; "": by what an item has
  std::int64_t limit = 0;          // items; 0: all
  std::int64_t passages = -1;      // at most this many per item; -1: all, 0: closed book
  std::int64_t gold_position = 0;  // move the gold passage there, from 1; 0: leave it
};

void add_prompt_source(CLI::App& command, PromptSource& source);

// One prompt to be traced: its tokens, and what part of it every token is.
struct TracePrompt {
  std::string id, question;
  std::vector<std::string> answers;
  Prompt prompt;
  observe::Regions regions;  // of the prompt's tokens; add_answer() adds the generated ones
};

// The items of --data, or the one prompt of the command line.
std::vector<evaluate::Item> read_prompt_items(const PromptSource& source);

TracePrompt make_trace_prompt(const PromptSource& source, const evaluate::Item& item,
                              const std::filesystem::path& folder,
                              const std::optional<text::Tokenizer>& tokenizer);

// Extends the regions by the generated slots, as the region "answer".
void add_answer(observe::Regions& regions, std::int64_t slots);

}  // namespace buoy::app
