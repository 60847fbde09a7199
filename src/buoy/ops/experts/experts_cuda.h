#pragma once

#include <cstdint>

#include "buoy/ops/experts/experts.h"
#include "buoy/tensor/stream.h"

// A mixture of experts on a GPU. All pointers are to device memory; bf16 numbers travel as std::uint16_t.
// Nothing here waits for the card, and no size depends on what is chosen, so that it can be recorded.
namespace buoy::ops {

inline constexpr std::int64_t kMostExperts = 512, kMostChosen = 32, kMostExpertGroups = 32;
inline constexpr int kMostColumnParts = 8, kExpertCounters = 2 * kMostColumnParts + 1;

struct DeviceRouteArgs {
  const float* logits = nullptr;  // [rows, parts * E]; an expert's logit is the sum of its parts
  std::int64_t rows = 0;
  std::int64_t parts = 1;
  const float* bias = nullptr;      // [E] or null
  std::int32_t* experts = nullptr;  // [rows, k]
  float* weights = nullptr;         // [rows, k]
  float* entropy = nullptr;         // [rows] or null
  std::int32_t* flag = nullptr;     // lowered to `code` when a logit is a NaN or an infinity
  std::int32_t code = 0;
};
// As route() of experts.h decides, in float.
void route_cuda(const Stream& stream, const RouterRule& rule, const DeviceRouteArgs& args);

// Pairs of a row and an expert it chose, sorted by expert; those of an expert by row. Pair p is slot p % k of
// row p / k.
struct DevicePairs {
  std::int32_t* first = nullptr;   // [E + 1]: where an expert's pairs begin
  std::int32_t* source = nullptr;  // [rows * k]: the pair that stands here
  std::int32_t* place = nullptr;   // [rows * k]: where a pair stands
  // [kExpertCounters] or null: how far the products are. Sorting sets them to zero, and without them a part
  // of the work begins only when the one before is over.
  std::int32_t* progress = nullptr;
};
void sort_pairs_cuda(const Stream& stream, const std::int32_t* experts, std::int64_t pairs,
                     std::int64_t expert_count, const DevicePairs& out);

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
  // How products and sums overlap, where pairs.progress is there.
  std::int64_t overlap_from = 2048;  // rows
  int column_parts = 2;              // the last product comes in: finished ones are summed meanwhile
  bool begin_early = true;           // the second product, with experts that the first has finished
  int lead = 0;                      // steps of one warpgroup before the other
  bool weights_leave_first = false;  // the L2 cache
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
