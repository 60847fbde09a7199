#pragma once

#include "buoy/decode/block.h"
#include "buoy/decode/decoding_rule.h"
#include "buoy/decode/options.h"

namespace buoy::decode {

// What the options come to for the family's block decoding; `mask_token` must be known. UsageError for a
// block length that the config contradicts, and for words that mean nothing.
BlockOptions block_options(const ModelConfig& config, const DecodeOptions& options);

}  // namespace buoy::decode
