#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "buoy/checkpoint/config.h"

namespace buoy::benchmark {

struct ShapeOfModel {
  Family family;
  std::int64_t hidden, layers, heads, kv_heads, head_dim, mlp_hidden, vocabulary;
  std::int64_t experts = 0, chosen = 0, expert_width = 0;  // of families with experts
};

ShapeOfModel llada_8b();  // the released shape; callers may lower layers and vocabulary
ShapeOfModel llama_8b();
ShapeOfModel sdar_8b();
ShapeOfModel qwen3_30b_a3b();
ShapeOfModel llada2_mini();
ShapeOfModel llada_small();  // 12 layers of 256, 8 heads of 32: the size that ships with Buoy

const std::vector<std::string>& shape_names();  // "llada-8b", "llama-8b", "sdar-8b", ...
ShapeOfModel shape_named(const std::string& name);
ModelConfig config_of(const ShapeOfModel& shape);

// Writes a checkpoint of that shape with seeded bf16 weights (normal, deviation 1/sqrt(inputs)), streaming,
// so that 16 GB need no 16 GB of memory.
void write_random_checkpoint(const std::filesystem::path& folder, const ShapeOfModel& shape,
                             std::uint64_t seed);
std::uint64_t random_checkpoint_bytes(const ShapeOfModel& shape);  // of its weights

}  // namespace buoy::benchmark
