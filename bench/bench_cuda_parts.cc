#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <numeric>

#include "bench/bench_cuda.h"
#include "buoy/benchmark/machine.h"
#include "buoy/benchmark/random_checkpoint.h"
#include "buoy/ops/attention/attention_cuda.h"
#include "buoy/ops/linear/linear_cuda.h"
#include "buoy/ops/moments/head_states_cuda.h"
#include "buoy/ops/pointwise/elementwise_cuda.h"
#include "buoy/ops/pointwise/norm_cuda.h"
#include "buoy/ops/pointwise/rope_cuda.h"
#include "buoy/ops/sampling/sampling_cuda.h"
#include "buoy/tensor/device_memory.h"

namespace buoy::bench {
namespace {

using Numbers = benchmark::NormalOnDevice;
using benchmark::device_seconds;

// What finishing queries and keys needs: positions, angles, a flag.
struct Rotation {
  Rotation(const Stream& stream, const ModelConfig& c, std::int64_t rows)
      : positions(static_cast<size_t>(rows + 1) * sizeof(std::int32_t)),
        angles(static_cast<size_t>(rows * c.head_dim / 2) * sizeof(float)) {
    std::vector<std::int32_t> numbers(static_cast<size_t>(rows + 1));
    std::iota(numbers.begin(), numbers.end(), 0);
    copy_to_device(stream, positions.data(), numbers.data(), positions.bytes());
    fill_bytes(stream, angles.data(), 0x3f, angles.bytes());
    args.rows = rows;
    args.heads = c.heads;
    args.kv_heads = c.kv_heads;
    args.head_dim = c.head_dim;
    args.rope = {angles.as<float>(), angles.as<float>(), c.head_dim / 2};
    args.positions = positions.as<std::int32_t>();
    args.flag = positions.as<std::int32_t>() + rows;
  }
  DeviceMemory positions, angles;
  ops::DeviceQkvArgs args{};
};

class Parts {
 public:
  Parts(const benchmark::MachineLimits& limits, const CudaBenchOptions& options, std::int64_t rows)
      : limits_(limits), linear_(options.timed_candidates), rows_(rows) {}

  Json run();

 private:
  void product(const char* name, std::int64_t inputs, std::int64_t outputs, ops::LinearOutput kind,
               std::int64_t rows);
  void streaming(const char* name, double bytes, const std::function<void()>& call);
  void add(const char* name, double seconds, double share, const char* of);

  benchmark::MachineLimits limits_;
  ModelConfig config_ = benchmark::config_of(benchmark::llada_8b());
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
  const DeviceMemory y(static_cast<size_t>(rows * outputs) * sizeof(float)),
      scratch(static_cast<size_t>(rows * outputs) * sizeof(std::uint16_t));
  fill_bytes(stream_, y.data(), 0, y.bytes());
  const Rotation rotation(stream_, config_, rows);
  ops::DeviceQkvArgs qkv = rotation.args;
  const ops::DeviceLinearArgs args{
      x.get(), rows, w.get(), inputs, outputs, y.data(), kind, scratch.as<std::uint16_t>(), &qkv};
  const double flops =
      2.0 * static_cast<double>(rows) * static_cast<double>(inputs) * static_cast<double>(outputs);
  for (const auto& [choice, by] : {std::pair{ops::LinearChoice::kByShape, ""},
                                   {ops::LinearChoice::kLibrary, ", library"},
                                   {ops::LinearChoice::kOwn, ", own"}}) {
    linear_.choose(choice);
    const std::int64_t queries = qkv.heads * qkv.head_dim, keys = qkv.kv_heads * qkv.head_dim;
    qkv.states = ops::qkv_apart(y.as<std::uint16_t>(), rows, queries, keys);
    if (!linear_.finishes_qkv(args)) qkv.states = ops::qkv_in_one_row(y.as<std::uint16_t>(), queries, keys);
    const double seconds = device_seconds(stream_, [&] { linear_.multiply(stream_, args); });
    add((std::string(name) + by).c_str(), seconds, flops / seconds / limits_.product_flops, "gemm peak");
  }
}

void Parts::streaming(const char* name, double bytes, const std::function<void()>& call) {
  const double seconds = device_seconds(stream_, call);
  add(name, seconds, bytes / seconds / limits_.copy_bytes, "copy rate");
}

Json Parts::run() {
  const ModelConfig& c = config_;
  const std::int64_t queries = c.heads * c.head_dim, keys = c.kv_heads * c.head_dim, all = queries + 2 * keys;
  const double n = static_cast<double>(rows_);
  fmt::print("one layer's parts, {} rows\n", rows_);
  product("qkv product and rotation", c.hidden, all, ops::LinearOutput::kQkv, rows_);
  product("out product, added", queries, c.hidden, ops::LinearOutput::kAddFloat, rows_);
  product("gate, up and SwiGLU", c.hidden, 2 * c.mlp_hidden, ops::LinearOutput::kSwiglu, rows_);
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
  const Rotation rotation(stream_, c, rows_);
  ops::DeviceQkvArgs heads = rotation.args;
  heads.states = ops::qkv_in_one_row(qkv.get(), queries, keys);
  streaming("rotation", 4 * n * static_cast<double>(queries + keys),
            [&] { ops::finish_qkv_cuda(stream_, heads); });
  streaming("swiglu", 6 * n * static_cast<double>(c.mlp_hidden), [&] {
    ops::swiglu_cuda(stream_, {gate_up.get(), rows_, c.mlp_hidden, out.get()});
  });

  ops::fill_normal_cuda(stream_, qkv.get(), rows_ * all, 5, 1.0);
  ops::AttentionPlan plan({c.heads, c.kv_heads, c.head_dim, {}}, {1, rows_, rows_, false, 0});
  const ops::PackedSequence one{0, static_cast<std::int32_t>(rows_), 0, 0, static_cast<std::int32_t>(rows_)};
  plan.set_sequences(std::span(&one, 1), stream_);
  ops::DeviceAttentionInputs inputs;
  inputs.queries = qkv.get();
  inputs.keys = qkv.get() + queries;
  inputs.values = qkv.get() + queries + keys;
  inputs.query_stride = inputs.key_stride = inputs.value_stride = all;
  inputs.query_buffer_rows = inputs.key_buffer_rows = rows_;
  ops::DeviceAttentionOutputs outputs;
  outputs.output = out.get();
  outputs.output_stride = queries;
  const double attention =
      device_seconds(stream_, [&] { ops::attention_cuda(plan, inputs, outputs, stream_); });
  add("attention", attention, 4 * n * n * static_cast<double>(queries) / attention / limits_.product_flops,
      "gemm peak");

  // What is measured of heads: lengths of what they put out, keys and values against those of the step
  // before.
  const DeviceMemory before(static_cast<size_t>(rows_ * keys) * sizeof(std::uint16_t)),
      numbers(static_cast<size_t>(rows_ * c.heads) * sizeof(float));
  ops::fill_normal_cuda(stream_, before.as<std::uint16_t>(), rows_ * keys, 6, 1.0);
  streaming("lengths of head outputs", 2 * n * static_cast<double>(queries), [&] {
    ops::head_norms_cuda(stream_,
                         {{out.get(), queries, rows_, c.heads, c.head_dim}, numbers.as<float>(), rows_});
  });
  streaming("keys or values and their step before", 6 * n * static_cast<double>(keys), [&] {
    ops::head_drift_cuda(stream_, {{qkv.get() + queries, all, rows_, c.kv_heads, c.head_dim},
                                   before.as<std::uint16_t>(),
                                   rows_,
                                   numbers.as<float>(),
                                   rows_});
  });

  // Attention again, with queries, keys and values in rows of their own.
  inputs.keys = inputs.queries + rows_ * queries;
  inputs.values = inputs.keys + rows_ * keys;
  inputs.query_stride = queries;
  inputs.key_stride = inputs.value_stride = keys;
  const double apart = device_seconds(stream_, [&] { ops::attention_cuda(plan, inputs, outputs, stream_); });
  add("attention, q k v apart", apart,
      4 * n * n * static_cast<double>(queries) / apart / limits_.product_flops, "gemm peak");

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

Json bench_cuda_parts(const benchmark::MachineLimits& limits, const CudaBenchOptions& options) {
  Json out = Json::array();
  for (const int rows : options.lengths) {
    for (const Json& entry : Parts(limits, options, rows).run()) out.push_back(entry);
  }
  return out;
}

}  // namespace buoy::bench
