#include "buoy/base/error.h"
#include "buoy/ops/device/bf16.cuh"
#include "buoy/ops/device/launch_cuda.cuh"
#include "buoy/ops/pointwise/rope_cuda.h"
#include "buoy/tensor/cuda_check.cuh"

namespace buoy::ops {
namespace {

constexpr int kWarps = 8, kThreads = 32 * kWarps;
constexpr int kMostUnits = 2;  // per lane: heads of up to 256 dimensions

// A lane holds units of four numbers: two neighbours j, j + 1 of the lower half and the two they turn with.
struct Unit {
  float2 low, high;
};

__device__ Unit load(const std::uint32_t* head, int unit, int half_words) {
  return {unpack_bf16(head[unit]), unpack_bf16(head[half_words + unit])};
}
__device__ void store(std::uint32_t* head, int unit, int half_words, const Unit& u) {
  head[unit] = pack_bf16(u.low.x, u.low.y);
  head[half_words + unit] = pack_bf16(u.high.x, u.high.y);
}
__device__ void add(Unit& u, const float* bias, int unit, int half) {
  u.low.x += bias[2 * unit];
  u.low.y += bias[2 * unit + 1];
  u.high.x += bias[half + 2 * unit];
  u.high.y += bias[half + 2 * unit + 1];
}
__device__ void scale(Unit& u, float factor, const float* weight, int unit, int half) {
  u.low.x *= factor * weight[2 * unit];
  u.low.y *= factor * weight[2 * unit + 1];
  u.high.x *= factor * weight[half + 2 * unit];
  u.high.y *= factor * weight[half + 2 * unit + 1];
}
__device__ void multiply(Unit& u, float factor) {
  u.low.x *= factor, u.low.y *= factor;
  u.high.x *= factor, u.high.y *= factor;
}
__device__ float square(const Unit& u) {
  return u.low.x * u.low.x + u.low.y * u.low.y + u.high.x * u.high.x + u.high.y * u.high.y;
}
__device__ bool finite(const Unit& u) {
  return isfinite(u.low.x) && isfinite(u.low.y) && isfinite(u.high.x) && isfinite(u.high.y);
}
__device__ void rotate(Unit& u, const float* cosines, const float* sines, int unit) {
  const float2 c = reinterpret_cast<const float2*>(cosines)[unit],
               s = reinterpret_cast<const float2*>(sines)[unit];
  const Unit old = u;
  u.low = {old.low.x * c.x - old.high.x * s.x, old.low.y * c.y - old.high.y * s.y};
  u.high = {old.high.x * c.x + old.low.x * s.x, old.high.y * c.y + old.low.y * s.y};
}

// Head `head` of a row, counted over queries, keys and values.
__device__ std::uint16_t* head_of(const DeviceQkvArgs& args, std::int64_t row, int head) {
  const QkvPlaces& at = args.states;
  const int heads = static_cast<int>(args.heads), kv_heads = static_cast<int>(args.kv_heads);
  if (head < heads) return at.queries + row * at.query_stride + head * args.head_dim;
  if (head < heads + kv_heads) return at.keys + row * at.key_stride + (head - heads) * args.head_dim;
  return at.values + row * at.key_stride + (head - heads - kv_heads) * args.head_dim;
}

// Eight neighbours of the lower half and the eight they turn with.
struct Octet {
  float low[8], high[8];
};

__device__ void unpack(uint4 words, float* out) {
  const std::uint32_t parts[4] = {words.x, words.y, words.z, words.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float2 pair = unpack_bf16(parts[i]);
    out[2 * i] = pair.x;
    out[2 * i + 1] = pair.y;
  }
}
__device__ uint4 pack(const float* in) {
  return make_uint4(pack_bf16(in[0], in[1]), pack_bf16(in[2], in[3]), pack_bf16(in[4], in[5]),
                    pack_bf16(in[6], in[7]));
}
__device__ void load_floats(const float* from, float* out) {
  const float4 a = reinterpret_cast<const float4*>(from)[0], b = reinterpret_cast<const float4*>(from)[1];
  out[0] = a.x, out[1] = a.y, out[2] = a.z, out[3] = a.w;
  out[4] = b.x, out[5] = b.y, out[6] = b.z, out[7] = b.w;
}

__device__ Octet load_octet(const float* first, int half) {
  Octet out;
  load_floats(first, out.low);
  load_floats(first + half, out.high);
  return out;
}

// The same for heads of 64 or 128: kLanes lanes share a head, each with 16-byte accesses. Nothing but the
// states comes from the kernel in front: all else is in registers when that one ends.
template <int kLanes>
__global__ void __launch_bounds__(kThreads, 3) finish_wide_qkv_kernel(DeviceQkvArgs args, int heads_per_row) {
  constexpr int kHalf = 8 * kLanes, kDim = 2 * kHalf;
  launch_dependents();
  const std::int64_t index = (static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x) / kLanes;
  const bool inside = index < args.rows * heads_per_row;
  const std::int64_t row = inside ? index / heads_per_row : 0;
  const int head = inside ? static_cast<int>(index % heads_per_row) : 0, first = 8 * (threadIdx.x % kLanes);
  const int heads = static_cast<int>(args.heads), kv_heads = static_cast<int>(args.kv_heads);
  const bool is_query = head < heads, is_key = !is_query && head < heads + kv_heads,
             turns = is_query || is_key;
  std::uint16_t* data = head_of(args, row, head) + first;
  std::uint16_t* cached = nullptr;
  if (args.cache_rows != nullptr && !is_query) {
    std::uint16_t* base = is_key ? args.cached_keys : args.cached_values;
    const int number = is_key ? head - heads : head - heads - kv_heads;
    cached = base + (args.cache_rows[row] * args.kv_heads + number) * kDim + first;
  }
  const float* norm = is_query ? args.query_norm : is_key ? args.key_norm : nullptr;
  Octet bias, weight;
  if (args.bias != nullptr) bias = load_octet(args.bias + head * kDim + first, kHalf);
  if (norm != nullptr) weight = load_octet(norm + first, kHalf);
  float cosine[8], sine[8], scale = 1.0f;
  if (turns) {
    const std::int64_t position = args.positions[row], angle = position * args.rope.pairs + first;
    load_floats(args.rope.cosines + angle, cosine);
    load_floats(args.rope.sines + angle, sine);
    if (args.rope.query_scales != nullptr)
      scale = is_query ? args.rope.query_scales[position] : args.rope.key_scale;
  }
  wait_for_prior_grid();

  Octet x;
  const uint4 low_words = *reinterpret_cast<const uint4*>(data),
              high_words = *reinterpret_cast<const uint4*>(data + kHalf);
  unpack(low_words, x.low);
  unpack(high_words, x.high);
  if (args.bias != nullptr) {
#pragma unroll
    for (int i = 0; i < 8; ++i) x.low[i] += bias.low[i], x.high[i] += bias.high[i];
  }
  if (args.query_norm != nullptr) {
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 8; ++i) sum += x.low[i] * x.low[i] + x.high[i] * x.high[i];
#pragma unroll
    for (int offset = kLanes / 2; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    if (norm != nullptr) {
      const float factor = rsqrtf(sum / kDim + static_cast<float>(args.eps));
#pragma unroll
      for (int i = 0; i < 8; ++i) x.low[i] *= factor * weight.low[i], x.high[i] *= factor * weight.high[i];
    }
  }
  if (!inside) return;
  if (turns) {
    bool finite = true;
    if (args.rope.query_scales != nullptr) {
#pragma unroll
      for (int i = 0; i < 8; ++i) x.low[i] *= scale, x.high[i] *= scale;
    }
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const float a = x.low[i], b = x.high[i];
      x.low[i] = a * cosine[i] - b * sine[i];
      x.high[i] = b * cosine[i] + a * sine[i];
      finite &= isfinite(x.low[i]) && isfinite(x.high[i]);
    }
    if (args.flag != nullptr && !finite) atomicMin(args.flag, args.code);
  }
  const uint4 low = pack(x.low), high = pack(x.high);
  *reinterpret_cast<uint4*>(data) = low;
  *reinterpret_cast<uint4*>(data + kHalf) = high;
  if (cached != nullptr) {
    *reinterpret_cast<uint4*>(cached) = low;
    *reinterpret_cast<uint4*>(cached + kHalf) = high;
  }
}

// One warp per head of one row: queries, then keys, then (when they change or are kept) values.
__global__ void __launch_bounds__(kThreads) finish_qkv_kernel(DeviceQkvArgs args, int heads_per_row) {
  const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * kWarps + threadIdx.x / 32;
  if (index >= args.rows * heads_per_row) return;
  const std::int64_t row = index / heads_per_row;
  const int head = static_cast<int>(index % heads_per_row), lane = threadIdx.x % 32;
  const int dim = static_cast<int>(args.head_dim), half = dim / 2, half_words = dim / 4;
  const int heads = static_cast<int>(args.heads), kv_heads = static_cast<int>(args.kv_heads);
  const bool is_query = head < heads, is_key = !is_query && head < heads + kv_heads;
  auto* data = reinterpret_cast<std::uint32_t*>(head_of(args, row, head));

  Unit units[kMostUnits];
  float sum = 0;
#pragma unroll
  for (int k = 0; k < kMostUnits; ++k) {
    const int unit = k * 32 + lane;
    if (unit >= half_words) continue;
    units[k] = load(data, unit, half_words);
    if (args.bias != nullptr) add(units[k], args.bias + head * dim, unit, half);
    sum += square(units[k]);
  }
  const float* norm = is_query ? args.query_norm : is_key ? args.key_norm : nullptr;
  const float factor =
      norm != nullptr ? rsqrtf(warp_sum(sum) / static_cast<float>(dim) + static_cast<float>(args.eps)) : 1.0f;

  const std::int64_t position = args.positions[row];
  const float* cosines = args.rope.cosines + position * args.rope.pairs;
  const float* sines = args.rope.sines + position * args.rope.pairs;
  std::uint32_t* cached = nullptr;
  if (args.cache_rows != nullptr && !is_query) {
    std::uint16_t* base = is_key ? args.cached_keys : args.cached_values;
    const int number = is_key ? head - heads : head - heads - kv_heads;
    cached = reinterpret_cast<std::uint32_t*>(base + (args.cache_rows[row] * args.kv_heads + number) *
                                                         args.head_dim);
  }
#pragma unroll
  for (int k = 0; k < kMostUnits; ++k) {
    const int unit = k * 32 + lane;
    if (unit >= half_words) continue;
    if (norm != nullptr) scale(units[k], factor, norm, unit, half);
    if (is_query || is_key) {
      if (args.rope.query_scales != nullptr)
        multiply(units[k], is_query ? args.rope.query_scales[position] : args.rope.key_scale);
      rotate(units[k], cosines, sines, unit);
      if (args.flag != nullptr && !finite(units[k])) atomicMin(args.flag, args.code);
    }
    store(data, unit, half_words, units[k]);
    if (cached != nullptr) store(cached, unit, half_words, units[k]);
  }
}

unsigned blocks_for(std::int64_t warps) {
  return static_cast<unsigned>((warps + kWarps - 1) / kWarps);
}

// The kernels pair dimension j with j + head_dim / 2; all models Buoy reads rotate whole heads.
void check_shape(std::int64_t head_dim, const DeviceRopeTable& rope) {
  if (2 * rope.pairs != head_dim || head_dim % 8 != 0 || head_dim > 128 * kMostUnits) {
    throw_usage_error(
        {"head size on the GPU",
         "a multiple of 8, at most " + std::to_string(128 * kMostUnits) + ", rotated as a whole",
         std::to_string(head_dim) + " with " + std::to_string(2 * rope.pairs) + " rotated"});
  }
}

}  // namespace

void finish_qkv_cuda(const Stream& stream, const DeviceQkvArgs& args) {
  check_shape(args.head_dim, args.rope);
  if (args.rows == 0) return;
  const bool values_too = args.bias != nullptr || args.cache_rows != nullptr;
  const int heads = static_cast<int>(args.heads + (values_too ? 2 : 1) * args.kv_heads);
  const auto raw = static_cast<cudaStream_t>(stream.handle());
  const auto launch_wide = [&](auto* kernel, std::int64_t heads_of_four_warps) {
    const std::int64_t blocks = (args.rows * heads + heads_of_four_warps - 1) / heads_of_four_warps;
    launch_kernel({.grid = dim3(blocks_for(blocks)), .block = kThreads, .early = gpu().major >= 9}, stream,
                  "finish_qkv", kernel, args, heads);
  };
  if (args.head_dim == 128) return launch_wide(finish_wide_qkv_kernel<8>, 4);
  if (args.head_dim == 64) return launch_wide(finish_wide_qkv_kernel<4>, 8);
  finish_qkv_kernel<<<blocks_for(args.rows * heads), kThreads, 0, raw>>>(args, heads);
  check_launch("finish_qkv");
}

}  // namespace buoy::ops
