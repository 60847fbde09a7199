#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/synthetic_trace.h"

namespace buoy::testing {

// A made-up run that decodes blocks: a prompt that is stored, two steps and a finishing forward for each
// block behind it, and a look at the final row.
struct BlockArm {
  const char* label;
  std::int64_t block, origin;  // of the finished row
  std::int64_t denoised, denoised_origin;
  bool says = true;  // false: a trace of before, which does not say how blocks were denoised

  std::int64_t prompt() const { return kPrompt; }
  std::int64_t tokens() const { return kPrompt + 2 * denoised; }

  static constexpr std::int64_t kPrompt = 12;
};

struct BlockForward {
  std::uint8_t kind;  // trace::StepKind
  std::int64_t first, end;
  std::int64_t number;          // of the block; -1: none
  std::int64_t revealed;        // slots that it sees revealed
  std::int64_t length, origin;  // of its mask

  std::int64_t keys_of(std::int64_t query) const;
};
std::vector<BlockForward> forwards_of(const BlockArm& arm);

// What the query gives to the keys that it sees, [keys]; they sum to 1.
using Attention = std::function<std::vector<double>(const BlockForward& forward, std::int64_t query)>;
Attention even_attention();
// A share of everything goes to one key of each forward, the rest is even.
Attention sink(double share, const std::function<std::int64_t(const BlockForward& forward)>& key);

inline constexpr std::int64_t kBlockHeads = 2, kBlockLayers = 3, kBlockSamples = 3;

// What is known of rows, keys and values besides, alike in all layers.
struct BlockStates {
  float first_value = 1;  // length of the value of key 0; others have length 1
  float moved = 1;        // cosine of a block's keys, values and states between its two denoising steps
};

// Regions: bos, query, three documents, the answer; document 2 is gold, document 2 holds the evidence.
SyntheticTrace block_trace(const BlockArm& arm, const Attention& attention,
                           const std::optional<BlockStates>& states = std::nullopt);

std::vector<BlockArm> block_arms();

}  // namespace buoy::testing
