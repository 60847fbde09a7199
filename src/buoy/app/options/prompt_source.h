#pragma once

#include <string>
#include <vector>

#include "buoy/app/options/model_folder.h"
#include "buoy/app/options/request_flags.h"
#include "buoy/questions/item.h"
#include "buoy/run/trace_request.h"

namespace buoy::app {

// Where the prompts of `buoy generate`, `buoy trace` and `buoy watch` come from.
struct PromptSource {
  PromptOptions prompt;
  std::string data;
};

// --prompt, --file, --ids, --data, and the flags of how items of a data set become text.
void add_prompt_source(Command& command, PromptSource& source, RequestFlags& flags);

// The items of --data, or the one prompt of the command line.
std::vector<questions::Item> read_prompt_items(const PromptSource& source,
                                               const questions::ReadOptions& read);

// What is asked of a model with these prompts, as far as no model is needed to know it.
run::TraceRequest read_prompt_request(const PromptSource& source, RequestFlags flags);

// Loads the model and settles what only it tells: whether the chat template is used, prompts given as ids,
// the device. Decoding that no prompt could have is refused before.
run::LoadedModel load_model_for(const PromptSource& source, const ModelOptions& model,
                                run::TraceRequest& request);

}  // namespace buoy::app
