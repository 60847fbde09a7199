#pragma once

#include <string>

#include "buoy/observe/plan.h"
#include "buoy/questions/data/item_reader.h"
#include "buoy/run/arrangement.h"
#include "buoy/run/change/changes.h"
#include "buoy/run/chat_choice.h"
#include "buoy/run/decoding.h"
#include "buoy/tensor/device.h"
#include "buoy/trace/level.h"

namespace buoy::run {

// What is asked of a model, whoever asks: `buoy trace` and `buoy eval` read it from flags
// (app/options/request_flags.h), studies from keys (study/study_plan.h). identity.h says what of it is
// stored.
struct Request {
  questions::ReadOptions read;  // which questions of the data, and what its fields are called
  Arrangement arrangement;      // of every item's passages
  std::string prompt_template;  // as for Prompter
  ChatUse chat_use = ChatUse::kWhenThereIsOne;
  ChatChoice chat;
  DecodeOptions decode;

  std::string observe;                 // names of observables, or "all"; "": nothing
  std::string layers, steps_observed;  // "": all
  std::string groups;                  // of queries; "": state
  std::int64_t predicted_tokens = observe::Plan{}.predicted_tokens;  // named at each position (predictions)
  bool final_row = true;  // masked diffusion: observe one more forward over the row when all is revealed
  bool float16 = false;   // traces in half the space
  trace::Level keep = trace::Level::kFull;  // how much traces keep of a sample
  std::int64_t compact_samples = 4;         // the first so many keep heads and rows where compact is kept

  Changes changes;               // made to the model while it decodes and is observed
  Device device = Device::kCpu;  // a GPU rounds otherwise, so its answers may differ

  // UsageError for what cannot be observed.
  observe::Plan plan() const {
    auto plan = observe::parse_plan(observe, layers, steps_observed);
    plan.predicted_tokens = predicted_tokens;
    return plan;
  }
};

}  // namespace buoy::run
