#pragma once

#include <cstdint>
#include <filesystem>

#include "checkpoint/config.h"

namespace buoy::bench {

struct ShapeOfModel {
  Family family;
  std::int64_t hidden, layers, heads, kv_heads, head_dim, mlp_hidden, vocabulary;
};

ShapeOfModel llada_8b();  // the released shape; callers may lower layers and vocabulary
ShapeOfModel llama_8b();
ShapeOfModel llada_small();  // 12 layers of 256, 8 heads of 32: the size that ships with Buoy

// Writes a checkpoint of that shape with seeded bf16 weights (normal, deviation 1/sqrt(inputs)), streaming,
// so that 16 GB need no 16 GB of memory.
void write_random_checkpoint(const std::filesystem::path& folder, const ShapeOfModel& shape,
                             std::uint64_t seed);

}  // namespace buoy::bench
