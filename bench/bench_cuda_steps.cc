#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>

#include "base/progress.h"
#include "bench/bench_cuda.h"
#include "bench/bench_cuda_shape.h"
#include "model/device_pass.h"
#include "tensor/device.h"

namespace buoy::bench {
namespace {

constexpr std::int64_t kGroups = 13, kCloseRows = 32;

struct Observed {
  const char* name;
  void (*ask)(probe::LayerRequest& request);
};

constexpr Observed kEverything = {"observed", [](probe::LayerRequest& r) {
                                    r.received = r.entropy = r.row_weights = r.qk_after = r.qk_before = true;
                                  }};
constexpr Observed kPieces[] = {
    {"received", [](probe::LayerRequest& r) { r.received = true; }},
    {"entropy", [](probe::LayerRequest& r) { r.entropy = true; }},
    {"32 rows", [](probe::LayerRequest& r) { r.row_weights = true; }},
    {"QK moments", [](probe::LayerRequest& r) { r.qk_after = r.qk_before = true; }}};

// Asks the same of all layers: received attention by 13 groups of queries, 32 whole rows.
class Watch final : public probe::Probe {
 public:
  explicit Watch(const Observed& observed) : ask_(observed.ask) {}

  probe::LayerRequest request(const probe::Address&, const probe::LayerExtent& extent) override {
    probe::LayerRequest r;
    ask_(r);
    r.groups = kGroups;
    for (std::int64_t i = static_cast<std::int64_t>(groups_.size()); i < extent.query_rows; ++i)
      groups_.push_back(static_cast<std::uint8_t>(i * kGroups / extent.query_rows));
    r.group_of_row = groups_;
    for (std::int64_t i = std::max<std::int64_t>(0, extent.query_rows - kCloseRows); i < extent.query_rows;
         ++i)
      r.rows.push_back(static_cast<std::int32_t>(i));
    return r;
  }
  void take(const probe::Address&, probe::LayerRecord&& record) override {
    received += record.received.size();
  }

  size_t received = 0;

 private:
  void (*ask_)(probe::LayerRequest&);
  std::vector<std::uint8_t> groups_;
};

// Sequences of `length` tokens, every position wanted.
struct Batch {
  Batch(const ModelConfig& config, std::int64_t count, std::int64_t length) {
    for (std::int64_t i = 0; i < length; ++i) rows.push_back(static_cast<std::int32_t>(i));
    for (std::int64_t n = 0; n < count; ++n) {
      auto& ids = tokens.emplace_back();
      for (std::int64_t i = 0; i < length; ++i)
        ids.push_back(static_cast<std::int32_t>((n * 7919 + i * 104729) % config.vocabulary));
    }
    for (const auto& ids : tokens) inputs.push_back({ids, rows, nullptr, {}});
    rules.resize(static_cast<size_t>(count * length));
  }
  std::vector<std::int32_t> rows;
  std::vector<std::vector<std::int32_t>> tokens;
  std::vector<model::SequenceInput> inputs;
  std::vector<ops::ChoiceRule> rules;
};

double step_flops(const ModelConfig& c, std::int64_t sequences, std::int64_t length) {
  const double rows = static_cast<double>(sequences * length), hidden = static_cast<double>(c.hidden);
  const double width = static_cast<double>((2 * c.heads + 2 * c.kv_heads) * c.head_dim);
  const double weights =
      static_cast<double>(c.layers) * hidden * (width + 3.0 * static_cast<double>(c.mlp_hidden)) +
      hidden * static_cast<double>(c.vocabulary);
  const double attention =
      4.0 * static_cast<double>(c.layers * c.heads * c.head_dim) * rows * static_cast<double>(length);
  return 2.0 * rows * weights + attention;
}

}  // namespace

Json bench_cuda_steps(const Context& context, const CardLimits& limits, const CudaBenchOptions& options) {
  const ModelConfig config = llada_8b_config();
  model::DevicePass pass(config, model::traits_of(config.family), model::DeviceWeights::random(config, {}, 1),
                         options.timed_candidates);
  const double weight_bytes = static_cast<double>(pass.weight_bytes());
  Json out = Json::array();
  const auto step = [&](std::int64_t count, std::int64_t length, const Observed* observed,
                        double unobserved) {
    const Batch batch(config, count, length);
    std::unique_ptr<Watch> watch = observed != nullptr ? std::make_unique<Watch>(*observed) : nullptr;
    probe::Probe* probe = watch.get();
    const double seconds =
        median_seconds([&] { pass.choices(context, batch.inputs, batch.rules, probe); }, 15);
    const double flops = step_flops(config, count, length) / seconds;
    const std::uint64_t memory = pass.workspace_bytes();
    fmt::print(
        "{:>3} x {:>5} tokens, {:<10} {:>8.2f} ms {:>6.1f}% of gemm peak, weights at {:>5.1f}% of copy "
        "rate{}, {}\n",
        count, length, observed != nullptr ? observed->name : "unobserved", seconds * 1e3,
        100 * flops / limits.gemm_flops, 100 * weight_bytes / seconds / limits.copy_bytes,
        unobserved > 0 ? fmt::format(", {:+.1f}%", 100 * (seconds / unobserved - 1)) : "",
        describe_bytes(memory));
    std::fflush(stdout);
    out.push_back({{"sequences", count},
                   {"tokens", length},
                   {"observed", observed != nullptr ? observed->name : ""},
                   {"seconds", seconds},
                   {"flops_per_second", flops},
                   {"share_of_gemm", flops / limits.gemm_flops},
                   {"weight_share_of_copy_rate", weight_bytes / seconds / limits.copy_bytes},
                   {"workspace_bytes", memory}});
    return seconds;
  };
  fmt::print("LLaDA-8B shape, random weights ({}), all positions chosen from\n",
             describe_bytes(pass.weight_bytes()));
  for (const int length : options.lengths) {
    const double unobserved = step(1, length, nullptr, 0);
    step(1, length, &kEverything, unobserved);
    for (const auto& piece : kPieces) {
      if (options.pieces) step(1, length, &piece, unobserved);
    }
  }
  step(16, 512, nullptr, 0);
  return out;
}

}  // namespace buoy::bench
