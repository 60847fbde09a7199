#pragma once

#include <cstring>
#include <vector>

#include "buoy/base/error.h"
#include "buoy/ops/attention/attention_cuda.h"
#include "buoy/tensor/device.h"
#include "buoy/tensor/device_memory.h"
#include "ops/attention_data.h"

namespace buoy::testing {

inline bool has_gpu() {
  try {
    return !usable_devices().empty();
  } catch (const UsageError&) {  // a build without the backend
    return false;
  }
}

// Round to nearest, ties to even; for finite numbers.
inline std::uint16_t to_bf16(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}
inline float from_bf16(std::uint16_t value) {
  const std::uint32_t bits = std::uint32_t{value} << 16;
  float out;
  std::memcpy(&out, &bits, sizeof out);
  return out;
}
inline float rounded_to_bf16(float value) {
  return from_bf16(to_bf16(value));
}

// An array on the GPU. A fresh one is full of NaNs, so that what a kernel forgets to write shows.
template <typename T>
class DeviceArray {
 public:
  DeviceArray(const Stream& stream, size_t count)
      : stream_(stream), count_(count), memory_(count * sizeof(T) + 16) {
    fill_bytes(stream_, memory_.data(), 0xFF, count_ * sizeof(T));
  }
  DeviceArray(const Stream& stream, const std::vector<T>& values) : DeviceArray(stream, values.size()) {
    copy_to_device(stream_, memory_.data(), values.data(), count_ * sizeof(T));
    stream_.synchronize();
  }
  T* data() { return memory_.as<T>(); }
  std::vector<T> host() const {
    std::vector<T> out(count_);
    copy_to_host(stream_, out.data(), memory_.data(), count_ * sizeof(T));
    stream_.synchronize();
    return out;
  }

 private:
  const Stream& stream_;
  size_t count_;
  DeviceMemory memory_;
};

// A case whose numbers are bf16, so that the double reference sees what the GPU sees.
inline AttentionData bf16_data(const AttentionCase& c, std::uint64_t seed) {
  AttentionData data(c, seed);
  for (auto* states : {&data.queries, &data.keys, &data.values}) {
    for (float& value : *states) value = rounded_to_bf16(value);
  }
  return data;
}

// Several cases of one shape packed as a model does it: row [q | k | v], sequences end to end. Keys before
// the first query, which a cache would hold, come in rows without queries.
class PackedOnDevice {
 public:
  PackedOnDevice(const Stream& stream, const std::vector<AttentionData>& parts, std::int64_t close_rows)
      : stream_(stream),
        shape_(parts[0].c.shape()),
        width_((shape_.heads + 2 * shape_.kv_heads) * shape_.head_dim),
        fused_(stream, fuse(parts)),
        bias_(stream, biases(parts)),
        plan_(shape_, {static_cast<std::int64_t>(parts.size()), rows_, columns_, true, close_rows}) {
    plan_.set_sequences(sequences_, stream);
    inputs_.queries = fused_.data();
    inputs_.keys = fused_.data() + shape_.heads * shape_.head_dim;
    inputs_.values = inputs_.keys + shape_.kv_heads * shape_.head_dim;
    inputs_.query_stride = inputs_.key_stride = inputs_.value_stride = width_;
    inputs_.query_buffer_rows = inputs_.key_buffer_rows = buffer_rows_;
    if (!parts[0].bias.empty()) inputs_.key_bias = bias_.data();
  }

  ops::AttentionPlan& plan() { return plan_; }
  ops::DeviceAttentionInputs& inputs() { return inputs_; }
  const std::vector<ops::PackedSequence>& sequences() const { return sequences_; }
  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }

  struct Result {
    std::vector<float> output;                // [rows, heads, head_dim]
    std::vector<float> log_sum_exp, entropy;  // [heads, rows]
  };
  Result attend(bool with_entropy = true, const float* head_scale = nullptr,
                const ops::DeviceQkMoments* moments = nullptr) {
    const std::int64_t out_width = shape_.heads * shape_.head_dim;
    DeviceArray<std::uint16_t> output(stream_, static_cast<size_t>(rows_ * out_width));
    DeviceArray<float> lse(stream_, static_cast<size_t>(rows_ * shape_.heads)),
        entropy(stream_, static_cast<size_t>(rows_ * shape_.heads));
    auto inputs = inputs_;
    inputs.head_scale = head_scale;
    ops::attention_cuda(plan_, inputs,
                        {.output = output.data(),
                         .output_stride = out_width,
                         .log_sum_exp = lse.data(),
                         .entropy = with_entropy ? entropy.data() : nullptr,
                         .moments = moments},
                        stream_);
    Result result;
    for (const std::uint16_t bits : output.host()) result.output.push_back(from_bf16(bits));
    result.log_sum_exp = lse.host();
    result.entropy = entropy.host();
    return result;
  }

 private:
  // Queries are numbered without gaps only when no part has keys before its first query.
  std::vector<std::uint16_t> fuse(const std::vector<AttentionData>& parts) {
    std::vector<std::uint16_t> fused;
    for (const auto& data : parts) {
      const AttentionCase& c = data.c;
      const std::int64_t first = c.key_rows - c.query_rows < 0 ? 0 : c.key_rows - c.query_rows;
      const std::int64_t all = std::max(c.key_rows, c.query_rows);
      sequences_.push_back(
          {static_cast<std::int32_t>(buffer_rows_ + first), static_cast<std::int32_t>(c.query_rows),
           static_cast<std::int32_t>(c.first_position), static_cast<std::int32_t>(buffer_rows_),
           static_cast<std::int32_t>(c.key_rows), static_cast<std::int32_t>(c.prefix), c.mask.block,
           static_cast<std::int32_t>(c.grid_origin)});
      rows_ = buffer_rows_ + first + c.query_rows;
      columns_ += c.key_rows;
      buffer_rows_ += all;
      fused.resize(static_cast<size_t>(buffer_rows_ * width_), to_bf16(1.0f));
      const auto put = [&](const std::vector<float>& states, std::int64_t row, std::int64_t column,
                           std::int64_t size) {
        for (size_t i = 0; i < states.size(); ++i) {
          const auto n = static_cast<std::int64_t>(i);
          fused[static_cast<size_t>((row + n / size) * width_ + column + n % size)] = to_bf16(states[i]);
        }
      };
      const std::int64_t q = c.heads * c.head_dim, kv = c.kv_heads * c.head_dim;
      put(data.queries, sequences_.back().query_start, 0, q);
      put(data.keys, sequences_.back().key_start, q, kv);
      put(data.values, sequences_.back().key_start, q + kv, kv);
    }
    return fused;
  }
  static std::vector<float> biases(const std::vector<AttentionData>& parts) {
    std::vector<float> all;
    for (const auto& data : parts) all.insert(all.end(), data.bias.begin(), data.bias.end());
    return all;
  }

  const Stream& stream_;
  ops::AttentionShape shape_;
  std::int64_t width_, rows_ = 0, columns_ = 0, buffer_rows_ = 0;
  std::vector<ops::PackedSequence> sequences_;
  DeviceArray<std::uint16_t> fused_;
  DeviceArray<float> bias_;
  ops::AttentionPlan plan_;
  ops::DeviceAttentionInputs inputs_;
};

// The table of all implementations, and its cases again with the head sizes that have kernels of their own.
inline std::vector<AttentionCase> cuda_attention_cases() {
  std::vector<AttentionCase> cases = attention_cases();
  using ops::MaskKind;
  for (const std::int64_t rows :
       {2, 16, 17, 32, 33}) {  // up to 32 the keys are divided between thread blocks
    cases.push_back({.label = std::to_string(rows) + "_rows_after_500",
                     .heads = 6,
                     .query_rows = rows,
                     .first_position = 500,
                     .key_rows = 500 + rows,
                     .mask = {rows == 2 ? MaskKind::kBidirectional : MaskKind::kCausal, 0},
                     .bias = KeyBias::kSomeHidden});
  }
  const size_t count = cases.size();
  for (const std::int64_t dim : {64, 128}) {
    for (size_t i = 0; i < count; ++i) {
      if (cases[i].head_dim != 16) continue;
      cases.push_back(cases[i]);
      cases.back().head_dim = dim;
      cases.back().label += "_of" + std::to_string(dim);
    }
  }
  return cases;
}

// Of statistics and moments.
inline std::vector<AttentionCase> cuda_statistics_cases() {
  auto all = cuda_attention_cases();
  std::erase_if(all, [](const AttentionCase& c) { return c.score_scale > 1 && c.key_rows > 100; });
  // More than one block of 256 keys, and a block that only later queries see.
  for (const std::int64_t dim : {64, 128}) {
    for (const auto kind : {ops::MaskKind::kBidirectional, ops::MaskKind::kCausal}) {
      all.push_back(
          {.label = "grouped" + std::to_string(dim) + (kind == ops::MaskKind::kCausal ? "_causal" : ""),
           .heads = 4,
           .head_dim = dim,
           .query_rows = 900,
           .key_rows = 900,
           .mask = {kind, 0},
           .bias = KeyBias::kSomeHidden});
    }
  }
  for (const std::int64_t prefix : {1, 255, 256, 600, 900}) {
    all.push_back({.label = "grouped_prefix_of_" + std::to_string(prefix),
                   .heads = 4,
                   .head_dim = 64,
                   .query_rows = 900,
                   .key_rows = 900,
                   .mask = {ops::MaskKind::kPrefix, 0},
                   .bias = KeyBias::kSomeHidden,
                   .prefix = prefix});
  }
  for (const std::int64_t block : {4, 32, 512}) {
    all.push_back({.label = "grouped_blocks_of_" + std::to_string(block),
                   .heads = 4,
                   .head_dim = 128,
                   .query_rows = 900,
                   .key_rows = 900,
                   .mask = {ops::MaskKind::kBlockCausal, block},
                   .bias = KeyBias::kSomeHidden,
                   .grid_origin = 3});
  }
  // Few rows that see all keys: kernels for every power of two of rows, for up to four heads that share keys
  // and for more; the last keys fill a tile, a part of one, or a part of one's half.
  struct Heads {
    std::int64_t all, of_keys;
  };
  constexpr Heads kHeads[] = {{4, 4}, {4, 1}, {6, 2}, {8, 1}, {7, 1}, {10, 2}};
  size_t turn = 0;
  for (const std::int64_t rows : {1, 2, 3, 4, 7, 8, 13, 16, 31, 32}) {
    for (int n = 0; n < 3; ++n, ++turn) {
      const Heads heads = kHeads[turn % std::size(kHeads)];
      const std::int64_t past = turn % 3 == 0 ? 0 : turn % 3 == 1 ? 192 - rows : 301;
      all.push_back({.label = std::to_string(rows) + "_rows_of_" + std::to_string(heads.all) +
                              "_heads_over_" + std::to_string(heads.of_keys) + "_after_" +
                              std::to_string(past),
                     .heads = heads.all,
                     .kv_heads = heads.of_keys,
                     .head_dim = turn % 4 == 3 ? 64 : 128,
                     .query_rows = rows,
                     .first_position = past,
                     .key_rows = past + rows,
                     .mask = {ops::MaskKind::kBidirectional, 0},
                     .bias = turn % 2 == 0 ? KeyBias::kNone : KeyBias::kSomeHidden});
    }
  }
  return all;
}

// How far a score or a log-sum-exp in float32 may be from the exact one: a sum of head_dim products, each up
// to the product of the largest norms, and a bias that is turned into powers of two, added, and turned back.
inline double score_tolerance(const AttentionData& data) {
  const auto largest_norm = [&](const std::vector<float>& states) {
    double largest = 0;
    for (size_t i = 0; i < states.size(); i += static_cast<size_t>(data.c.head_dim)) {
      double sum = 0;
      for (size_t j = 0; j < static_cast<size_t>(data.c.head_dim); ++j)
        sum += double{states[i + j]} * states[i + j];
      largest = std::max(largest, std::sqrt(sum));
    }
    return largest;
  };
  double largest_bias = 0;
  for (const float bias : data.bias)
    if (bias != kHidden) largest_bias = std::max(largest_bias, std::abs(double{bias}));
  const double root = std::sqrt(static_cast<double>(data.c.head_dim));
  return kEpsilon *
         ((4 + root) * (1 + largest_norm(data.queries) * largest_norm(data.keys) / root) + 2 * largest_bias);
}

}  // namespace buoy::testing
