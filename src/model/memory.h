#pragma once

#include <cstdint>

#include "checkpoint/config.h"

namespace buoy::model {

// Bytes a forward over `tokens` tokens needs beside the weights, all logits of the row included.
std::uint64_t workspace_bytes(const ModelConfig& config, std::int64_t tokens);

}  // namespace buoy::model
