// A layer of experts: where its time goes, beside the limits of the machine.

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <vector>

#include "bench/bench_cuda.h"
#include "buoy/benchmark/machine.h"
#include "buoy/ops/experts/experts_cuda.h"
#include "buoy/ops/linear/linear_cuda.h"
#include "buoy/tensor/device_memory.h"

namespace buoy::bench {
namespace {

using Numbers = benchmark::NormalOnDevice;
using benchmark::device_seconds;

struct MixtureShape {
  const char* name;
  ops::RouterRule rule;
  std::int64_t hidden, width;
  bool limited = false;  // whether limits were set for it
};
const MixtureShape kShapes[] = {
    {"Qwen3-30B-A3B", {ops::RouterKind::kSoftmax, 128, 8, true}, 2048, 768, true},
    {"LLaDA2-mini", {ops::RouterKind::kSigmoidGroups, 256, 8, false, 8, 4, 2.5}, 2048, 512},
};
constexpr double kLeastOfProduct = 0.7, kLeastOfCopy = 0.6;
constexpr std::int64_t kFewRows = 32, kManyRows = 4096;  // that limits were set for

class Layer {
 public:
  Layer(const MixtureShape& shape, std::int64_t rows)
      : shape_(shape),
        rows_(rows),
        pairs_(rows * shape.rule.chosen),
        input_(stream_, rows * shape.hidden),
        router_(stream_, shape.rule.experts * shape.hidden, 0.02),
        gate_up_(stream_, shape.rule.experts * 2 * shape.width * shape.hidden, 0.02),
        down_(stream_, shape.rule.experts * shape.width * shape.hidden, 0.02),
        logits_(bytes<float>(rows * shape.rule.experts)),
        routed_(bytes<std::int32_t>(pairs_)),
        weights_(bytes<float>(pairs_)),
        first_(bytes<std::int32_t>(shape.rule.experts + 1)),
        source_(bytes<std::int32_t>(pairs_)),
        place_(bytes<std::int32_t>(pairs_)),
        flag_(bytes<std::int32_t>(1)),
        counts_(static_cast<size_t>(ops::pair_counts(rows, shape.rule.experts))),
        returned_(bytes<std::uint16_t>(pairs_ * shape.hidden)),
        activated_(bytes<std::uint16_t>(pairs_ * shape.width)),
        output_(bytes<float>(rows * shape.hidden)) {
    fill_bytes(stream_, output_.data(), 0, output_.bytes());
  }

  Json run(const Context& context, const benchmark::MachineLimits& limits);

 private:
  template <typename T>
  static size_t bytes(std::int64_t count) {
    return static_cast<size_t>(count) * sizeof(T);
  }
  ops::DevicePairs pairs() const {
    return {first_.as<std::int32_t>(), source_.as<std::int32_t>(), place_.as<std::int32_t>(),
            counts_.as<std::uint8_t>()};
  }
  void multiply_router() {
    linear_.multiply(stream_, {.input = input_.get(),
                               .rows = rows_,
                               .weight = router_.get(),
                               .inputs = shape_.hidden,
                               .outputs = shape_.rule.experts,
                               .output = logits_.data(),
                               .kind = ops::LinearOutput::kFloat});
  }
  void decide() {
    ops::route_cuda(stream_, shape_.rule,
                    {.logits = logits_.as<float>(),
                     .rows = rows_,
                     .experts = routed_.as<std::int32_t>(),
                     .weights = weights_.as<float>(),
                     .pairs = pairs(),
                     .flag = flag_.as<std::int32_t>()});
  }
  void route() { multiply_router(), decide(); }
  void multiply(ops::ExpertsPart part = ops::ExpertsPart::kAll) {
    ops::experts_cuda(stream_,
                      {.input = input_.get(),
                       .rows = rows_,
                       .hidden = shape_.hidden,
                       .experts = shape_.rule.experts,
                       .chosen = shape_.rule.chosen,
                       .width = shape_.width,
                       .gate_up = gate_up_.get(),
                       .down = down_.get(),
                       .pairs = pairs(),
                       .weights = weights_.as<float>(),
                       .activated = activated_.as<std::uint16_t>(),
                       .returned = returned_.as<std::uint16_t>(),
                       .output = output_.as<float>()},
                      ops::ExpertsChoice::kByShape, part);
  }
  struct Times {
    double layer, product_flops;
  };
  Times time_in_turn(const Context& context);
  // How many experts somebody chose, and the most that chose one.
  std::pair<std::int64_t, std::int64_t> load();

  MixtureShape shape_;
  std::int64_t rows_, pairs_;
  Stream stream_;
  ops::DeviceLinear linear_;
  Numbers input_, router_, gate_up_, down_;
  DeviceMemory logits_, routed_, weights_, first_, source_, place_, flag_, counts_, returned_, activated_,
      output_;
};

std::pair<std::int64_t, std::int64_t> Layer::load() {
  std::vector<std::int32_t> first(static_cast<size_t>(shape_.rule.experts + 1));
  copy_to_host(stream_, first.data(), first_.data(), first.size() * sizeof first[0]);
  stream_.synchronize();
  std::int64_t busy = 0, most = 0;
  for (size_t e = 0; e + 1 < first.size(); ++e) {
    const std::int64_t rows = first[e + 1] - first[e];
    busy += rows > 0;
    most = std::max(most, rows);
  }
  return {busy, most};
}

// The card slows down as it gets warm: the layer and the product it is compared with take turns. It keeps to
// its power limit over a second: turns begin when the product has held it there for two.
Layer::Times Layer::time_in_turn(const Context& context) {
  constexpr size_t kTurns = 15;
  benchmark::held_product_flops(context, Device::kCuda);
  std::vector<Times> turns;
  for (size_t turn = 0; turn < kTurns; ++turn) {
    const double flops = benchmark::quick_product_flops(context, Device::kCuda);
    turns.push_back({device_seconds(stream_, [&] { route(), multiply(); }), flops});
  }
  const auto product = [](const Times& times) { return times.layer * times.product_flops; };
  std::sort(turns.begin(), turns.end(),
            [&](const Times& a, const Times& b) { return product(a) < product(b); });
  return turns[kTurns / 2];
}

Json Layer::run(const Context& context, const benchmark::MachineLimits& limits) {
  const double routing = device_seconds(stream_, [&] { route(); }),
               router = device_seconds(stream_, [&] { multiply_router(); }),
               decisions = device_seconds(stream_, [&] { decide(); });
  const double products = device_seconds(stream_, [&] { multiply(); });
  const auto [all, product_flops] = time_in_turn(context);
  const auto seconds_of = [&](ops::ExpertsPart part) {
    return device_seconds(stream_, [&] { multiply(part); });
  };
  const double gate_up = seconds_of(ops::ExpertsPart::kGateUp), down = seconds_of(ops::ExpertsPart::kDown),
               sums = seconds_of(ops::ExpertsPart::kSums);
  const auto [busy, most] = load();
  const double numbers = 3.0 * static_cast<double>(shape_.width * shape_.hidden);
  const double of_product = 2 * numbers * static_cast<double>(pairs_) / all / product_flops,
               of_copy = 2 * numbers * static_cast<double>(busy) / all / limits.copy_bytes;
  fmt::print(
      "  {:<14} {:>5} rows: routing {:>6.1f} us, experts {:>7.1f} us, together {:>7.1f} us; {} of {} "
      "experts, at "
      "most {} rows\n    alone: router {:.1f} us, decisions {:.1f} us, gate and up {:.1f} us, down {:.1f} "
      "us, "
      "sums {:.1f} us\n    {:.1f}% of the "
      "product rate in turn with it ({}), {:.1f}% of the copy rate",
      shape_.name, rows_, routing * 1e6, products * 1e6, all * 1e6, busy, shape_.rule.experts, most,
      router * 1e6, decisions * 1e6, gate_up * 1e6, down * 1e6, sums * 1e6, 100 * of_product,
      benchmark::describe_rate(product_flops, "FLOP"), 100 * of_copy);
  const bool few = rows_ == kFewRows;
  const double found = few ? of_copy : of_product, least = few ? kLeastOfCopy : kLeastOfProduct;
  if (shape_.limited && (few || rows_ == kManyRows)) {
    fmt::print(" (limit {:.0f}% of the {}: {})", 100 * least, few ? "copy rate" : "product rate",
               found >= least ? "held" : "MISSED");
  }
  fmt::print("\n");
  std::fflush(stdout);
  return {{"shape", shape_.name},
          {"rows", rows_},
          {"routing_seconds", routing},
          {"router_seconds", router},
          {"decisions_seconds", decisions},
          {"experts_seconds", products},
          {"gate_up_seconds", gate_up},
          {"down_seconds", down},
          {"sums_seconds", sums},
          {"seconds", all},
          {"product_flops_in_turn", product_flops},
          {"busy_experts", busy},
          {"most_rows", most},
          {"share_of_product_rate", of_product},
          {"share_of_copy_rate", of_copy}};
}

}  // namespace

Json bench_cuda_experts(const Context& context, const CudaBenchOptions& options) {
  const auto limits = benchmark::measure_limits(context, Device::kCuda);
  fmt::print("a layer of experts, random weights; {}\n", describe(limits));
  Json out = Json::array();
  for (const MixtureShape& shape : kShapes) {
    if (!options.wants(shape.name)) continue;
    for (const int rows : options.expert_rows) out.push_back(Layer(shape, rows).run(context, limits));
  }
  return out;
}

}  // namespace buoy::bench
