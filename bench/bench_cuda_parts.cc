#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>

#include "bench/bench_cuda.h"
#include "bench/bench_cuda_shape.h"
#include "ops/attention_cuda.h"
#include "ops/elementwise_cuda.h"
#include "ops/linear_cuda.h"
#include "ops/norm_cuda.h"
#include "ops/rope_cuda.h"
#include "ops/sampling_cuda.h"
#include "tensor/device_memory.h"

namespace buoy::bench {
namespace {

// Median over batches of launches, in seconds per call.
double device_seconds(const Stream& stream, const std::function<void()>& call) {
  constexpr int kBatches = 7, kCalls = 10;
  call();
  std::vector<double> times;
  Event begin, end;
  for (int batch = 0; batch < kBatches; ++batch) {
    begin.record(stream);
    for (int i = 0; i < kCalls; ++i) call();
    end.record(stream);
    end.synchronize();
    times.push_back(end.milliseconds_since(begin) * 1e-3 / kCalls);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

// A bf16 matrix of normal numbers.
struct Numbers {
  Numbers(const Stream& stream, std::int64_t count, double deviation = 1.0)
      : memory(static_cast<size_t>(count) * sizeof(std::uint16_t)) {
    ops::fill_normal_cuda(stream, get(), count, static_cast<std::uint64_t>(count), deviation);
  }
  std::uint16_t* get() const { return memory.as<std::uint16_t>(); }
  DeviceMemory memory;
};

class Parts {
 public:
  Parts(const CardLimits& limits, const CudaBenchOptions& options, std::int64_t rows)
      : limits_(limits), linear_(options.timed_candidates), rows_(rows) {}

  Json run();

 private:
  void product(const char* name, std::int64_t inputs, std::int64_t outputs, ops::LinearOutput kind,
               std::int64_t rows);
  void mlp(const ModelConfig& c);
  void streaming(const char* name, double bytes, const std::function<void()>& call);
  void add(const char* name, double seconds, double share, const char* of);

  CardLimits limits_;
  Stream stream_;
  ops::DeviceLinear linear_;
  std::int64_t rows_;
  Json results_ = Json::array();
};

void Parts::add(const char* name, double seconds, double share, const char* of) {
  fmt::print("  {:<28} {:>9.1f} us {:>6.1f}% of {}\n", name, seconds * 1e6, 100 * share, of);
  results_.push_back({{"part", name}, {"rows", rows_}, {"seconds", seconds}, {"share", share}, {"of", of}});
}

void Parts::product(const char* name, std::int64_t inputs, std::int64_t outputs, ops::LinearOutput kind,
                    std::int64_t rows) {
  const Numbers x(stream_, rows * inputs), w(stream_, inputs * outputs, 0.01);
  const DeviceMemory y(static_cast<size_t>(rows * outputs) * sizeof(float));
  fill_bytes(stream_, y.data(), 0, y.bytes());
  const double seconds = device_seconds(stream_, [&] {
    linear_.multiply(stream_, {x.get(), rows, w.get(), inputs, outputs, y.data(), kind});
  });
  const double flops =
      2.0 * static_cast<double>(rows) * static_cast<double>(inputs) * static_cast<double>(outputs);
  add(name, seconds, flops / seconds / limits_.gemm_flops, "gemm peak");
}

void Parts::streaming(const char* name, double bytes, const std::function<void()>& call) {
  const double seconds = device_seconds(stream_, call);
  add(name, seconds, bytes / seconds / limits_.copy_bytes, "copy rate");
}

// Both products and the activation between them, over all rows at once or a few at a time.
void Parts::mlp(const ModelConfig& c) {
  const Numbers x(stream_, rows_ * c.hidden), up(stream_, 2 * c.mlp_hidden * c.hidden, 0.01),
      down(stream_, c.mlp_hidden * c.hidden, 0.01), wide(stream_, rows_ * 2 * c.mlp_hidden),
      out(stream_, rows_ * c.mlp_hidden);
  const DeviceMemory hidden(static_cast<size_t>(rows_ * c.hidden) * sizeof(float));
  fill_bytes(stream_, hidden.data(), 0, hidden.bytes());
  for (std::int64_t chunk = 512; chunk <= rows_; chunk *= 2) {
    const double seconds = device_seconds(stream_, [&] {
      for (std::int64_t first = 0; first < rows_; first += chunk) {
        linear_.multiply(stream_, {x.get() + first * c.hidden, chunk, up.get(), c.hidden, 2 * c.mlp_hidden,
                                   wide.get(), ops::LinearOutput::kBf16});
        ops::swiglu_cuda(stream_, {wide.get(), chunk, c.mlp_hidden, out.get()});
        linear_.multiply(stream_, {out.get(), chunk, down.get(), c.mlp_hidden, c.hidden,
                                   hidden.as<float>() + first * c.hidden, ops::LinearOutput::kAddFloat});
      }
    });
    const double flops = 6.0 * static_cast<double>(rows_ * c.hidden) * static_cast<double>(c.mlp_hidden);
    add(fmt::format("MLP, {} rows at a time", chunk).c_str(), seconds, flops / seconds / limits_.gemm_flops,
        "gemm peak");
  }
}

Json Parts::run() {
  const ModelConfig c = llada_8b_config();
  const std::int64_t queries = c.heads * c.head_dim, keys = c.kv_heads * c.head_dim, all = queries + 2 * keys;
  const double n = static_cast<double>(rows_);
  fmt::print("one layer's parts, {} rows\n", rows_);
  product("qkv product", c.hidden, all, ops::LinearOutput::kBf16, rows_);
  product("out product, added", queries, c.hidden, ops::LinearOutput::kAddFloat, rows_);
  product("gate and up product", c.hidden, 2 * c.mlp_hidden, ops::LinearOutput::kBf16, rows_);
  product("down product, added", c.mlp_hidden, c.hidden, ops::LinearOutput::kAddFloat, rows_);
  const std::int64_t head_rows = std::min<std::int64_t>(rows_, 2048);
  product("head product", c.hidden, c.vocabulary, ops::LinearOutput::kFloat, head_rows);

  const Numbers qkv(stream_, rows_ * all), gate_up(stream_, rows_ * 2 * c.mlp_hidden),
      out(stream_, rows_ * c.mlp_hidden);
  const DeviceMemory hidden(static_cast<size_t>(rows_ * c.hidden) * sizeof(float));
  const DeviceMemory ones(static_cast<size_t>(rows_ * c.head_dim) * sizeof(float));
  fill_bytes(stream_, hidden.data(), 0x3f, hidden.bytes());
  fill_bytes(stream_, ones.data(), 0, ones.bytes());
  streaming("norm", 6 * n * static_cast<double>(c.hidden), [&] {
    ops::rms_norm_cuda(stream_,
                       {hidden.as<float>(), nullptr, rows_, c.hidden, hidden.as<float>(), 1e-5, out.get()});
  });
  streaming("rotation", 4 * n * static_cast<double>(queries + keys), [&] {
    ops::finish_qkv_cuda(stream_, {qkv.get(),
                                   rows_,
                                   c.heads,
                                   c.kv_heads,
                                   c.head_dim,
                                   {ones.as<float>(), ones.as<float>(), c.head_dim / 2},
                                   ones.as<std::int32_t>()});
  });
  streaming("swiglu", 6 * n * static_cast<double>(c.mlp_hidden), [&] {
    ops::swiglu_cuda(stream_, {gate_up.get(), rows_, c.mlp_hidden, out.get()});
  });

  mlp(c);

  ops::fill_normal_cuda(stream_, qkv.get(), rows_ * all, 5, 1.0);
  ops::AttentionPlan plan({c.heads, c.kv_heads, c.head_dim, {}}, {1, rows_, rows_, false, 0});
  const ops::PackedSequence one{0, static_cast<std::int32_t>(rows_), 0, 0, static_cast<std::int32_t>(rows_)};
  plan.set_sequences(std::span(&one, 1), stream_);
  ops::CudaAttentionInputs inputs;
  inputs.queries = qkv.get();
  inputs.keys = qkv.get() + queries;
  inputs.values = qkv.get() + queries + keys;
  inputs.query_stride = inputs.key_stride = inputs.value_stride = all;
  inputs.query_buffer_rows = inputs.key_buffer_rows = rows_;
  ops::CudaAttentionOutputs outputs;
  outputs.output = out.get();
  outputs.output_stride = queries;
  const double attention =
      device_seconds(stream_, [&] { ops::attention_cuda(plan, inputs, outputs, stream_); });
  add("attention", attention, 4 * n * n * static_cast<double>(queries) / attention / limits_.gemm_flops,
      "gemm peak");

  // The same with queries, keys and values in rows of their own.
  inputs.keys = inputs.queries + rows_ * queries;
  inputs.values = inputs.keys + rows_ * keys;
  inputs.query_stride = queries;
  inputs.key_stride = inputs.value_stride = keys;
  const double apart = device_seconds(stream_, [&] { ops::attention_cuda(plan, inputs, outputs, stream_); });
  add("attention, q k v apart", apart, 4 * n * n * static_cast<double>(queries) / apart / limits_.gemm_flops,
      "gemm peak");

  const DeviceMemory logits(static_cast<size_t>(head_rows * c.vocabulary) * sizeof(float));
  fill_bytes(stream_, logits.data(), 0x3f, logits.bytes());
  const std::vector<ops::ChoiceRule> rules(static_cast<size_t>(head_rows));
  const DeviceMemory device_rules(rules.size() * sizeof(ops::ChoiceRule)),
      choices(rules.size() * sizeof(ops::RowChoice));
  copy_to_device(stream_, device_rules.data(), rules.data(), device_rules.bytes());
  streaming("choices", 4 * static_cast<double>(head_rows * c.vocabulary), [&] {
    ops::choose_cuda(stream_,
                     {logits.as<float>(), head_rows, c.vocabulary, device_rules.as<ops::ChoiceRule>(),
                      choices.as<ops::RowChoice>(), ones.as<std::int32_t>(), 0});
  });
  return results_;
}

}  // namespace

CardLimits measure_card() {
  constexpr std::int64_t kSize = 8192;
  const Stream stream;
  ops::DeviceLinear linear;
  const Numbers x(stream, kSize * kSize), w(stream, kSize * kSize, 0.01), y(stream, kSize * kSize);
  const double product = device_seconds(stream, [&] {
    linear.multiply(stream, {x.get(), kSize, w.get(), kSize, kSize, y.get(), ops::LinearOutput::kBf16});
  });
  const DeviceMemory from(size_t{2} << 30), to(size_t{2} << 30);
  const double copy =
      device_seconds(stream, [&] { copy_on_device(stream, to.data(), from.data(), from.bytes()); });
  CardLimits limits{2.0 * kSize * kSize * kSize / product, 2.0 * static_cast<double>(from.bytes()) / copy};
  fmt::print("gemm peak {:.0f} TFLOP/s, copy rate {:.2f} TB/s\n", limits.gemm_flops / 1e12,
             limits.copy_bytes / 1e12);
  return limits;
}

Json bench_cuda_parts(const CardLimits& limits, const CudaBenchOptions& options) {
  Json out = Json::array();
  for (const int rows : options.lengths) {
    for (const Json& entry : Parts(limits, options, rows).run()) out.push_back(entry);
  }
  return out;
}

}  // namespace buoy::bench
