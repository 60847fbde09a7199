#pragma once

#include <cstdint>

#include "buoy/ops/experts/experts.h"
#include "buoy/tensor/stream.h"

// A mixture of experts on a GPU. All pointers are to device memory; bf16 numbers travel as std::uint16_t.
// Nothing here waits for the card, and no size depends on what is chosen, so that it can be recorded.
namespace buoy::ops {

inline constexpr std::int64_t kMostExperts = 512, kMostChosen = 32, kMostExpertGroups = 32;

// Pairs of a row and an expert it chose, sorted by expert; those of an expert by row. Pair p is slot p % k of
// row p / k.
struct DevicePairs {
  std::int32_t* first = nullptr;   // [E + 1]: where an expert's pairs begin
  std::int32_t* source = nullptr;  // [rows * k]: the pair that stands here
  std::int32_t* place = nullptr;   // [rows * k]: where a pair stands
  std::uint8_t* counts = nullptr;  // [pair_counts(rows, E)], to sort with; at a multiple of 4
};
std::int64_t pair_counts(std::int64_t rows, std::int64_t experts);

struct DeviceRouteArgs {
  const float* logits = nullptr;  // [rows, parts * E]; an expert's logit is the sum of its parts
  std::int64_t rows = 0;
  std::int64_t parts = 1;
  const float* bias = nullptr;      // [E] or null
  std::int32_t* experts = nullptr;  // [rows, k]; those of a row differ, whatever the logits are
  float* weights = nullptr;         // [rows, k]
  float* entropy = nullptr;         // [rows] or null
  DevicePairs pairs;                // of these rows
  std::int32_t* flag = nullptr;     // lowered to `code` when a logit is a NaN or an infinity
  std::int32_t code = 0;
};
// Decides as route() of experts.h does, in float, and sorts the pairs.
void route_cuda(const Stream& stream, const RouterRule& rule, const DeviceRouteArgs& args);

struct DeviceExpertsArgs {
  const std::uint16_t* input = nullptr;  // bf16 [rows, hidden]
  std::int64_t rows = 0, hidden = 0;
  std::int64_t experts = 0, chosen = 0, width = 0;
  // [E, 2 * width, hidden]: gate and up of an expert, kSwigluTurn rows (elementwise_cuda.h) in turn.
  const std::uint16_t* gate_up = nullptr;
  const std::uint16_t* down = nullptr;  // [E, hidden, width]
  DevicePairs pairs;                    // sorted
  const float* weights = nullptr;       // [rows, k]
  std::uint16_t* activated = nullptr;   // bf16 [rows * k, width]
  std::uint16_t* returned = nullptr;    // bf16 [rows * k, hidden]: what experts return
  float* output = nullptr;              // [rows, hidden]: what the experts return is added, by slot
};

// Which kernel forms the products.
enum class ExpertsChoice {
  kByShape,  // Hopper's where the GPU and the shape allow it
  kGeneral,
};

// All of it, or one part, to be measured alone: the product of gate and up, that of down, the sums.
enum class ExpertsPart { kAll, kGateUp, kDown, kSums };

// Sizes are multiples of 8. A row's result does not depend on the other rows, but for the width of the tiles,
// which follows from rows * k / E alone.
void experts_cuda(const Stream& stream, const DeviceExpertsArgs& args,
                  ExpertsChoice choice = ExpertsChoice::kByShape, ExpertsPart part = ExpertsPart::kAll);

}  // namespace buoy::ops
