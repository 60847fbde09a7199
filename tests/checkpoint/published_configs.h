#pragma once

#include <nlohmann/json.hpp>

#include "buoy/base/file/json_file.h"

namespace buoy::testing {

// config.json of the published checkpoints, key for key.
Json llada_8b();
Json dream_7b();
Json llama3_8b();
Json llama31_8b_instruct();
Json qwen25_7b_instruct();
Json qwen3_8b();
Json qwen3_600m();

}  // namespace buoy::testing
