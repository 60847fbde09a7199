#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "buoy/decode/options.h"

namespace buoy::decode {

// A way to decode that a model's config does not tell from another one of the same architecture.
struct DecodingRule {
  std::string_view name;  // of the option decoding_rule
  Loops loop;
  bool by_default = false;
};

// Those of a family; empty where there is but one.
std::vector<DecodingRule> decoding_rules(Family family);
// The one that is taken where none is given; none: it must be.
std::optional<std::string> default_rule(Family family);

// The one loop that these options decode with. UsageError where the rule is missing, or is none of the
// family's.
Loops loop_of(const ModelConfig& config, const DecodeOptions& options);

// What that loop reads the model as: masks that become tokens, or a next token. Like the next two, no check
// of the rule.
bool decodes_masks(const ModelConfig& config, const DecodeOptions& options);
// Which keys a forward over a whole row sees.
AttentionMaskKind mask_of(const ModelConfig& config, const DecodeOptions& options);
// Row p of the logits is for position p plus this.
std::int64_t prediction_offset(const ModelConfig& config, const DecodeOptions& options);

// Whether the one loop decodes in blocks over a cache.
bool decodes_blocks(const ModelConfig& config, const DecodeOptions& options);

}  // namespace buoy::decode
