#pragma once

#include <memory>
#include <string>
#include <vector>

#include "buoy/app/options/prompt_options.h"
#include "buoy/questions/item.h"

namespace buoy::app {

// Where the prompts of `buoy trace` come from and how items of a data set become text.
struct PromptSource {
  PromptOptions prompt;
  std::string data;
  std::shared_ptr<std::vector<std::string>> fields;  // what fields of the data are called
  std::string prompt_template;     // name of a built-in one or a file; "": by what an item has
  std::int64_t limit = 0;          // items; 0: all
  std::int64_t passages = -1;      // at most this many per item; -1: all, 0: closed book
  std::int64_t gold_position = 0;  // move the gold passage there, from 1; 0: leave it
};

void add_prompt_source(Command& command, PromptSource& source);

// The items of --data, or the one prompt of the command line.
std::vector<questions::Item> read_prompt_items(const PromptSource& source);

}  // namespace buoy::app
