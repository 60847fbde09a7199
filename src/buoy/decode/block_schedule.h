#pragma once

#include <cstdint>
#include <vector>

namespace buoy::decode {

// How many masks are to be filled in each step of a block.
struct BlockSchedule {
  enum class Rule {
    kQuota,    // as evenly as whole numbers allow, larger numbers first
    kDllm,     // the dllm library's rounding
    kAtLeast,  // so many in each step, until none is left
  };
  Rule rule = Rule::kQuota;
  std::int32_t steps = 1;  // of a block
  // The masks of a whole block are counted, even where a prompt's tail stands in it.
  bool over_whole_block = false;
  std::int32_t least = 1;  // kAtLeast
};

// floor(masks / steps), and one more in the first masks % steps of them.
std::vector<std::int64_t> quota_counts(std::int64_t masks, std::int32_t steps);
// Masks left times the ratio of a linear schedule, rounded half to even. Times and ratio are float32, as in
// the library: that decides the halves. Steps that would fill nothing are not there.
std::vector<std::int64_t> dllm_counts(std::int64_t masks, std::int32_t steps);

}  // namespace buoy::decode
