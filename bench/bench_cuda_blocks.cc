// What a token of block decoding costs at the size of an 8B model.

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <numeric>
#include <optional>

#include "bench/bench_cuda.h"
#include "buoy/base/progress.h"
#include "buoy/benchmark/timed_model.h"
#include "buoy/benchmark/timing.h"
#include "buoy/benchmark/watch.h"
#include "buoy/ops/linear/linear_cuda.h"

namespace buoy::bench {
namespace {

using Ids = std::vector<std::int32_t>;

constexpr int kRepetitions = 15;
constexpr double kTurnSeconds = 2, kMostObserving = 8;

struct BlockCase {
  std::int64_t block;                     // 1: token by token
  std::optional<double> least_gain = {};  // of the cache
};
struct ShapeCase {
  const char* name;
  benchmark::ShapeOfModel (*shape)();
  std::vector<BlockCase> blocks;
};
std::vector<ShapeCase> cases() {
  return {{"SDAR-8B", benchmark::sdar_8b, {{4, 4}, {32, 5}}},
          {"LLaDA2-mini", benchmark::llada2_mini, {{32}}},
          {"Qwen3-30B-A3B", benchmark::qwen3_30b_a3b, {{1}}}};
}

constexpr benchmark::Observed kPieces[] = {
    {"entropy", [](probe::LayerRequest& r) { r.entropy = true; }},
    {"received", [](probe::LayerRequest& r) { r.received = true; }},
    {"rows", [](probe::LayerRequest& r) { r.row_weights = true; }},
    {"QK moments", [](probe::LayerRequest& r) { r.qk_after = r.qk_before = true; }}};

Ids some_tokens(std::int64_t count, std::int64_t vocabulary) {
  Ids tokens;
  for (std::int64_t i = 0; i < count; ++i)
    tokens.push_back(static_cast<std::int32_t>(i * 104729 % vocabulary));
  return tokens;
}

Ids range(std::int64_t first, std::int64_t count) {
  Ids rows(static_cast<size_t>(count));
  std::iota(rows.begin(), rows.end(), static_cast<std::int32_t>(first));
  return rows;
}

const char* held(bool is_held) {
  return is_held ? "held" : "MISSED";
}

// A block that is all masks, behind a context that is stored and a finished block that may be. All rows of
// the block are chosen from.
class Block {
 public:
  Block(const Context& context, benchmark::TimedModel& model, std::int64_t past, std::int64_t block)
      : context_(context),
        model_(model),
        tokens_(some_tokens(past + 2 * block, model.config().vocabulary)),
        block_rows_(range(0, block)),
        last_rows_(range(past, block)),
        cache_(model.new_cache()) {
    if (block > 1) grid_ = {block, 0};
    model::SequenceInput stored{tokens(0, past), {}, &cache_};
    stored.grid = grid_;
    model_.step(context_, {&stored, 1}, nullptr);
  }

  void step(probe::Probe* probe) { step({input(past(), block_rows_)}, probe); }
  void store() { step({input(past(), {})}, nullptr); }
  // The step that also stores the block before.
  void storing_step() {
    std::vector<model::SequenceInput> both = {input(past(), {}), input(past() + size(), block_rows_)};
    both[1].behind = size();
    step(both, nullptr);
  }
  void step_without_cache() {
    model::SequenceInput all{tokens(0, past() + size()), last_rows_};
    all.grid = grid_;
    step({all}, nullptr);
  }

 private:
  std::int64_t past() const { return cache_.length(); }
  std::int64_t size() const { return std::ssize(block_rows_); }
  std::span<const std::int32_t> tokens(std::int64_t first, std::int64_t count) const {
    return std::span(tokens_).subspan(static_cast<size_t>(first), static_cast<size_t>(count));
  }
  // Again and again: the cache is not to get longer.
  model::SequenceInput input(std::int64_t first, std::span<const std::int32_t> rows) {
    model::SequenceInput out{tokens(first, size()), rows, &cache_};
    out.grid = grid_;
    out.extends_cache = false;
    return out;
  }
  void step(const std::vector<model::SequenceInput>& inputs, probe::Probe* probe) {
    model_.step(context_, inputs, probe);
  }

  const Context& context_;
  benchmark::TimedModel& model_;
  Ids tokens_, block_rows_, last_rows_;
  model::KvCache cache_;
  std::optional<model::BlockGrid> grid_;  // none: causal
};

// The products of a layer and the head's, of few rows: reading the weights is all there is to do. One copy of
// them after the other, so that none lies in the L2 cache.
class FewRowProducts {
 public:
  FewRowProducts(const ModelConfig& config, std::int64_t rows, const CudaBenchOptions& options,
                 const benchmark::MachineLimits& limits)
      : config_(config), limits_(limits), linear_(options.timed_candidates), rows_(rows) {}

  Json report() {
    const std::int64_t width = config_.heads * config_.head_dim,
                       qkv = (config_.heads + 2 * config_.kv_heads) * config_.head_dim;
    report("qkv", config_.hidden, qkv, ops::LinearOutput::kBf16);
    report("attention out", width, config_.hidden, ops::LinearOutput::kAddFloat);
    report("gate and up", config_.hidden, 2 * config_.mlp_hidden, ops::LinearOutput::kSwiglu);
    report("down", config_.mlp_hidden, config_.hidden, ops::LinearOutput::kAddFloat);
    report("head", config_.hidden, config_.vocabulary, ops::LinearOutput::kFloat);
    std::fflush(stdout);
    return results_;
  }

 private:
  void report(const char* name, std::int64_t inputs, std::int64_t outputs, ops::LinearOutput kind) {
    constexpr std::int64_t kNumbers = 128 << 20;
    const std::int64_t copies = 1 + kNumbers / (inputs * outputs);
    const benchmark::NormalOnDevice input(stream_, rows_ * inputs, 0.01),
        weight(stream_, copies * inputs * outputs, 0.01);
    const DeviceMemory output(static_cast<size_t>(rows_ * outputs) * sizeof(float)),
        scratch(static_cast<size_t>(rows_ * outputs) * sizeof(std::uint16_t));
    stream_.synchronize();
    std::int64_t turn = 0;
    const auto measure = [&](ops::LinearChoice choice, const char* by) {
      linear_.choose(choice);
      const double seconds = benchmark::device_seconds(stream_, [&] {
        linear_.multiply(stream_, {.input = input.get(),
                                   .rows = rows_,
                                   .weight = weight.get() + turn++ % copies * inputs * outputs,
                                   .inputs = inputs,
                                   .outputs = outputs,
                                   .output = output.data(),
                                   .kind = kind,
                                   .scratch = scratch.as<std::uint16_t>()});
      });
      const double bytes = 2.0 * static_cast<double>(inputs * outputs);
      fmt::print("  {:<14} {:>3} rows {:>8.1f} us, {:>4.0f}% of the copy rate, {}\n", name, rows_,
                 seconds * 1e6, 100 * bytes / seconds / limits_.copy_bytes, by);
      results_.push_back({{"product", name}, {"rows", rows_}, {"by", by}, {"seconds", seconds}});
    };
    measure(ops::LinearChoice::kLibrary, "library");
    measure(ops::LinearChoice::kFewRows, "own");
  }

  const ModelConfig& config_;
  const benchmark::MachineLimits& limits_;
  ops::DeviceLinear linear_;
  std::int64_t rows_;
  Stream stream_;
  Json results_ = Json::array();
};

// Seconds of a step among others, whoever takes the records.
double step_seconds(Block& block, const benchmark::Observed& observed, benchmark::Taking taking) {
  constexpr int kSteps = 8;
  benchmark::Watch watch(observed, taking);
  const auto steps = [&] {
    for (int i = 0; i < kSteps; ++i) block.step(&watch);
  };
  return benchmark::median_seconds(steps, kRepetitions) / kSteps;
}

// Bytes of the weights that a forward of so many rows reads: of the experts those that some row chooses, if
// each chooses as it likes; of the embedding next to nothing.
double bytes_read(const ModelConfig& config, std::uint64_t weight_bytes, std::int64_t rows) {
  const double embedding = 2.0 * static_cast<double>(config.vocabulary * config.hidden);
  double bytes = static_cast<double>(weight_bytes) - embedding;
  if (!config.experts) return bytes;
  const ExpertConfig& e = *config.experts;
  const double chosen = static_cast<double>(e.chosen) / static_cast<double>(e.count),
               idle = std::pow(1 - chosen, static_cast<double>(rows));
  std::int64_t layers = 0;
  for (std::int64_t layer = 0; layer < config.layers; ++layer) layers += is_mixture(config, layer);
  return bytes - idle * 6.0 * static_cast<double>(layers * e.count * e.width * config.hidden);
}

struct Setting {
  const Context& context;
  const CudaBenchOptions& options;
  const benchmark::MachineLimits& limits;
};

// Of one block behind `length` tokens, one token a step.
Json report_block(const Setting& setting, benchmark::TimedModel& model, const BlockCase& one, int length) {
  const auto& [size, least_gain] = one;
  Block block(setting.context, model, length / size * size, size);
  const auto median = [](auto call) { return benchmark::median_seconds(call, kRepetitions); };
  const double alone = median([&] { block.step(nullptr); }), stored = median([&] { block.store(); }),
               storing = median([&] { block.storing_step(); }),
               whole = median([&] { block.step_without_cache(); });
  const double later = step_seconds(block, benchmark::kEverything, benchmark::Taking::kLater),
               at_once = step_seconds(block, benchmark::kEverything, benchmark::Taking::kAtOnce);
  const auto steps = static_cast<double>(size);
  // Who decodes token by token stores each on the way.
  const double cached_block = size == 1 ? alone : (steps - 1) * alone + storing,
               gain = steps * whole / cached_block, cost = 100 * (later / alone - 1),
               bytes = bytes_read(model.config(), model.weight_bytes(), size), read = bytes / alone;
  // A copy reads and writes; its rate counts both.
  fmt::print("context {}, block {}: step {:.3f} ms ({:.0f}% of the copy rate), {:.1f} tokens/s\n", length,
             size, alone * 1e3, 100 * read / setting.limits.copy_bytes, steps / cached_block);
  fmt::print(
      "  one that also stores a block {:.3f} ms (storing alone {:.3f} ms), without cache {:.2f} ms: {:.2f} "
      "times",
      storing * 1e3, stored * 1e3, whole * 1e3, gain);
  if (least_gain) fmt::print(" (limit {}: {})", *least_gain, held(gain >= *least_gain));
  fmt::print(
      "\n  observed, records taken later: {:.3f} ms: {:+.2f}% (limit {}%: {}); "
      "taken at "
      "once: {:.3f} ms: {:+.2f}%\n",
      later * 1e3, cost, kMostObserving, held(cost <= kMostObserving), at_once * 1e3,
      100 * (at_once / alone - 1));
  for (const auto& piece : kPieces) {
    if (!setting.options.pieces) break;
    fmt::print("    {:<12} {:+.2f}%, taken at once {:+.2f}%\n", piece.name,
               100 * (step_seconds(block, piece, benchmark::Taking::kLater) / alone - 1),
               100 * (step_seconds(block, piece, benchmark::Taking::kAtOnce) / alone - 1));
  }
  std::fflush(stdout);
  return {{"context", length},
          {"block", size},
          {"step_seconds", alone},
          {"observed_seconds", later},
          {"observed_at_once_seconds", at_once},
          {"storing_step_seconds", storing},
          {"store_seconds", stored},
          {"whole_seconds", whole},
          {"gain", gain},
          {"observing_percent", cost},
          {"bytes_read_per_second", read},
          {"share_of_copy_rate", read / setting.limits.copy_bytes}};
}

}  // namespace

Json bench_cuda_blocks(const Context& context, const CudaBenchOptions& options) {
  const auto limits = benchmark::measure_limits(context, Device::kCuda);
  fmt::print("{}\n", describe(limits));
  const Setting setting{context, options, limits};
  Json out = Json::array();
  for (const ShapeCase& shape : cases()) {
    if (!options.wants(shape.name)) continue;
    const auto model = benchmark::random_model(shape.shape(), Device::kCuda, options.timed_candidates);
    fmt::print("{} shape, random weights ({}), one token a step\n", shape.name,
               describe_bytes(model->weight_bytes()));
    for (const BlockCase& one : shape.blocks) {
      if (!model->config().experts)
        out.push_back({{"products", FewRowProducts(model->config(), one.block, options, limits).report()}});
      for (const int length : options.lengths) {
        out.push_back(report_block(setting, *model, one, length));
        out.back()["shape"] = shape.name;
      }
    }
  }
  return out;
}

}  // namespace buoy::bench
