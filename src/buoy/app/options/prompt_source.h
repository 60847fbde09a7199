#pragma once

#include <string>
#include <vector>

#include "buoy/app/options/request_flags.h"
#include "buoy/questions/item.h"

namespace buoy::app {

// Where the prompts of `buoy trace` come from.
struct PromptSource {
  PromptOptions prompt;
  std::string data;
};

// --prompt, --file, --ids, --data, and the flags of how items of a data set become text.
void add_prompt_source(Command& command, PromptSource& source, RequestFlags& flags);

// The items of --data, or the one prompt of the command line.
std::vector<questions::Item> read_prompt_items(const PromptSource& source,
                                               const questions::ReadOptions& read);

}  // namespace buoy::app
