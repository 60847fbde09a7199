#include "buoy/model/memory.h"

#include <fmt/format.h>

#include <algorithm>

#include "buoy/base/error.h"
#include "buoy/base/progress.h"
#include "buoy/model/device/device_workspace.h"
#include "buoy/model/family.h"

namespace buoy::model {
namespace {

constexpr std::int64_t kBf16 = 2, kFloat = 4;

// Keys and values of the past of one sequence.
std::int64_t cache_numbers(const ModelConfig& c, std::int64_t tokens) {
  return is_masked_diffusion(c.family) && !may_decode_blocks(c.family)
             ? 0
             : 2 * c.layers * tokens * c.kv_heads * c.head_dim;
}

std::int64_t cpu_work(const ModelConfig& c, std::int64_t tokens) {
  const std::int64_t queries = c.heads * c.head_dim, keys = c.kv_heads * c.head_dim;
  const std::int64_t wide_rows = std::min<std::int64_t>(tokens, 1024);
  const std::int64_t stream = 2 * tokens * c.hidden;
  const std::int64_t attention =
      tokens * (2 * queries + 4 * keys);  // projections, and keys and values packed
  const std::int64_t widest = std::max(widest_mlp(c), c.experts ? c.experts->width : 0);
  std::int64_t mlp = 2 * wide_rows * widest_mlp(c);
  if (c.experts) {  // logits of the router, gathered rows, gate and up of one expert, the sum of its experts
    mlp += wide_rows * (c.experts->count + 2 * c.hidden + 2 * c.experts->width) +
           tokens * (2 * c.experts->chosen + 1);
  }
  const std::int64_t packed_inputs = (c.experts ? 2 : 1) * wide_rows * std::max(c.hidden, widest);
  const std::int64_t logits = tokens * c.vocabulary;
  return kFloat * (stream + attention + mlp + packed_inputs + logits + cache_numbers(c, tokens));
}

// As DeviceWorkspace lays it out, with scratch for every row.
std::int64_t gpu_work(const ModelConfig& c, std::int64_t tokens) {
  const std::int64_t queries = c.heads * c.head_dim, keys = c.kv_heads * c.head_dim;
  const std::int64_t chunk = std::min(DeviceWorkspace::largest_chunk(c), tokens);
  std::int64_t words = tokens * c.hidden + chunk * c.vocabulary;
  std::int64_t halves = std::max(tokens, chunk) * c.hidden +
                        tokens * (2 * queries + 2 * keys + 3 * widest_mlp(c)) + cache_numbers(c, tokens);
  if (c.experts) {  // logits of the router in two parts; of every pair of a row and an expert: four numbers,
                    // its input and what is activated
    const std::int64_t pairs = tokens * c.experts->chosen;
    words += 2 * tokens * c.experts->count + 4 * pairs;
    halves += pairs * (c.hidden + c.experts->width);
  }
  return kFloat * words + kBf16 * halves;
}

// Of all layers, and of tables and norms, when a token meets so many experts of each layer.
std::uint64_t parameters_with(const ModelConfig& c, std::int64_t experts) {
  const auto traits = traits_of(c.family);
  const std::int64_t queries = c.heads * c.head_dim, keys = c.kv_heads * c.head_dim;
  const std::int64_t attention = 2 * c.hidden * queries + 2 * c.hidden * keys;
  const std::int64_t bias = traits.qkv_bias ? queries + 2 * keys : 0;
  const std::int64_t norms = 2 * c.hidden + (traits.layer.query_norm.empty() ? 0 : 2 * c.head_dim);
  std::int64_t mlps = 0;
  for (std::int64_t layer = 0; layer < c.layers; ++layer) {
    if (!is_mixture(c, layer)) {
      mlps += 3 * c.hidden * c.mlp_hidden;
    } else {
      mlps += 3 * c.hidden * (experts * c.experts->width + c.experts->shared_width) +
              c.experts->count * (c.hidden + (c.experts->bias ? 1 : 0));
    }
  }
  const std::int64_t tables = c.vocabulary * c.hidden * (c.tied_head ? 1 : 2);
  return static_cast<std::uint64_t>(tables + c.hidden + c.layers * (attention + bias + norms) + mlps);
}

}  // namespace

std::uint64_t parameters_of(const ModelConfig& c) {
  return parameters_with(c, c.experts ? c.experts->count : 0);
}

std::uint64_t active_parameters_of(const ModelConfig& c) {
  return parameters_with(c, c.experts ? c.experts->chosen : 0);
}

MemoryNeed memory_need(const ModelConfig& config, const MemoryCase& of) {
  const bool gpu = of.device == Device::kCuda;
  const std::uint64_t bf16 = parameters_of(config) * static_cast<std::uint64_t>(kBf16);
  return {gpu || of.stored_bytes == 0 ? bf16 : of.stored_bytes,
          static_cast<std::uint64_t>(gpu ? gpu_work(config, of.tokens) : cpu_work(config, of.tokens))};
}

void require_room(const ModelConfig& config, std::uint64_t weight_bytes, const MachineMemory& device) {
  if (weight_bytes <= device.free) return;
  const auto need = fmt::format(
      "{} free for {:.4g} billion parameters in bf16{}", describe_bytes(weight_bytes),
      static_cast<double>(parameters_of(config)) / 1e9,
      config.experts ? ", those of all experts (a CPU reads from the file those that are used)" : "");
  throw_usage_error(
      {fmt::format("weights of {} on {}", config.architecture, device.name), need,
       fmt::format("{} free of {}", describe_bytes(device.free), describe_bytes(device.total))});
}

}  // namespace buoy::model
