#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "buoy/app/options/change_options.h"
#include "buoy/app/options/data_options.h"
#include "buoy/app/options/decode_options.h"
#include "buoy/app/options/prompt_options.h"
#include "buoy/run/request.h"

namespace buoy::app {

// What is asked of a model, as flags say it. Flags that are fields of the request are read into it; the
// others become fields in read_request(). Each command adds those it has.
struct RequestFlags {
  run::Request request;
  ChatOptions chat;
  ChangeOptions changes;
  std::shared_ptr<std::vector<std::string>> fields;  // what fields of the data are called
  std::int64_t limit = 0;                            // questions; 0: all
  std::string keep;                                  // a level; "": as the request says
};

// --layers, --steps-observed, --groups, --no-final, --float16: which part of a run is observed, and how it is
// kept.
// Returns the option that is of use with predictions only.
const Option* add_observed_part_options(Command& command, run::Request& request, bool& no_final);
// It would be ignored without them.
void require_predictions(const Option& predicted_tokens, const std::string& observe);

// The request without the device, which a command may only look for when it begins.
run::Request read_request(const RequestFlags& flags);

}  // namespace buoy::app
