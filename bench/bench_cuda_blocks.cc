// What a token of block decoding costs at the size of an 8B model.

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <numeric>

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
  std::int64_t block;
  double least_gain;  // of the cache
};
constexpr BlockCase kCases[] = {{4, 4}, {32, 5}};

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
        cache_(model.new_cache()),
        grid_{block, 0} {
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
  model::BlockGrid grid_;
};

// The products of a layer and the head's, of few rows: reading the weights is all there is to do.
Json report_products(const ModelConfig& config, std::int64_t rows, const CudaBenchOptions& options,
                     const benchmark::MachineLimits& limits) {
  struct Product {
    const char* name;
    std::int64_t inputs, outputs;
    ops::LinearOutput kind;
  };
  const std::int64_t width = config.heads * config.head_dim,
                     qkv = (config.heads + 2 * config.kv_heads) * config.head_dim;
  const Stream stream;
  ops::DeviceLinear linear(options.timed_candidates);
  Json out = Json::array();
  for (const Product& product :
       {Product{"qkv", config.hidden, qkv, ops::LinearOutput::kBf16},
        {"attention out", width, config.hidden, ops::LinearOutput::kAddFloat},
        {"gate and up", config.hidden, 2 * config.mlp_hidden, ops::LinearOutput::kBf16},
        {"down", config.mlp_hidden, config.hidden, ops::LinearOutput::kAddFloat},
        {"head", config.hidden, config.vocabulary, ops::LinearOutput::kFloat}}) {
    const benchmark::NormalOnDevice input(stream, rows * product.inputs, 0.01),
        weight(stream, product.inputs * product.outputs, 0.01);
    const DeviceMemory output(static_cast<size_t>(rows * product.outputs) * sizeof(float));
    const double seconds = benchmark::device_seconds(stream, [&] {
      linear.multiply(stream, {.input = input.get(),
                               .rows = rows,
                               .weight = weight.get(),
                               .inputs = product.inputs,
                               .outputs = product.outputs,
                               .output = output.data(),
                               .kind = product.kind});
    });
    const double bytes = 2.0 * static_cast<double>(product.inputs * product.outputs);
    fmt::print("  {:<14} {:>3} rows {:>8.1f} us, {:>4.0f}% of the copy rate\n", product.name, rows,
               seconds * 1e6, 100 * bytes / seconds / limits.copy_bytes);
    out.push_back({{"product", product.name}, {"rows", rows}, {"seconds", seconds}});
  }
  std::fflush(stdout);
  return out;
}

// Seconds of a step among others, whoever takes the records.
double step_seconds(Block& block, const benchmark::Observed& observed, benchmark::Taking taking) {
  constexpr int kSteps = 8;
  benchmark::Watch watch(observed, taking);
  const auto steps = [&] {
    for (int i = 0; i < kSteps; ++i) block.step(&watch);
  };
  return benchmark::median_seconds(steps, kRepetitions) / kSteps;
}

}  // namespace

Json bench_cuda_blocks(const Context& context, const CudaBenchOptions& options) {
  const auto model = benchmark::random_model(benchmark::sdar_8b(), Device::kCuda, options.timed_candidates);
  const auto limits = benchmark::measure_limits(context, Device::kCuda);
  fmt::print("SDAR-8B shape, random weights ({}), one token a step; {}\n",
             describe_bytes(model->weight_bytes()), describe(limits));
  Json out = Json::array();
  for (const auto& one : kCases)
    out.push_back({{"products", report_products(model->config(), one.block, options, limits)}});
  for (const int length : options.lengths) {
    for (const auto& [size, least_gain] : kCases) {
      Block block(context, *model, length / size * size, size);
      benchmark::Watch watch(benchmark::kEverything);
      const auto [alone, observed] = benchmark::median_seconds_in_turn(
          [&] { block.step(nullptr); }, [&] { block.step(&watch); }, kRepetitions, kTurnSeconds);
      const double stored = benchmark::median_seconds([&] { block.store(); }, kRepetitions),
                   storing = benchmark::median_seconds([&] { block.storing_step(); }, kRepetitions),
                   whole = benchmark::median_seconds([&] { block.step_without_cache(); }, kRepetitions);
      const auto steps = static_cast<double>(size);
      const double cached_block = (steps - 1) * alone + storing, gain = steps * whole / cached_block,
                   cost = 100 * (observed / alone - 1);
      // A copy reads and writes: half of its rate is what the weights are read at, at most, and in truth
      // more.
      const double share = static_cast<double>(model->weight_bytes()) / alone / limits.copy_bytes;
      fmt::print(
          "context {}, block {}: step {:.3f} ms ({:.0f}% of the copy rate), one that also stores a block "
          "{:.3f} ms "
          "(storing alone {:.3f} ms), without cache {:.2f} ms\n  {:.1f} tokens/s cached, {:.1f} without: "
          "{:.2f} times (limit {}: {})\n"
          "  observed {:.3f} ms: {:+.2f}% (limit {}%: {})\n",
          length, size, alone * 1e3, 100 * share, storing * 1e3, stored * 1e3, whole * 1e3,
          steps / cached_block, 1 / whole, gain, least_gain, held(gain >= least_gain), observed * 1e3, cost,
          kMostObserving, held(cost <= kMostObserving));
      const double later = step_seconds(block, benchmark::kEverything, benchmark::Taking::kLater);
      fmt::print("  observed, records taken later: {:.3f} ms: {:+.2f}%\n", later * 1e3,
                 100 * (later / alone - 1));
      if (options.pieces) {
        for (const auto& piece : kPieces) {
          const double own = step_seconds(block, piece, benchmark::Taking::kAtOnce),
                       late = step_seconds(block, piece, benchmark::Taking::kLater);
          fmt::print("    {:<12} {:+.2f}%, taken later {:+.2f}%\n", piece.name, 100 * (own / alone - 1),
                     100 * (late / alone - 1));
        }
      }
      std::fflush(stdout);
      out.push_back({{"context", length},
                     {"block", size},
                     {"step_seconds", alone},
                     {"observed_seconds", observed},
                     {"storing_step_seconds", storing},
                     {"store_seconds", stored},
                     {"whole_seconds", whole},
                     {"gain", gain},
                     {"least_gain", least_gain},
                     {"observing_percent", cost},
                     {"share_of_copy_rate", share}});
    }
  }
  return out;
}

}  // namespace buoy::bench
