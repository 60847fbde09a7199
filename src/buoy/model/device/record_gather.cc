#include "buoy/model/device/record_gather.h"

namespace buoy::model {

// Megabytes per layer at long contexts: all threads make room, then all copy. Waking them for less takes
// longer than to copy it.
void gather_all(const std::vector<Gather<float>>& gathers, const Context* context) {
  constexpr std::int64_t kWorthWaking = 1 << 18;  // numbers
  std::int64_t numbers = 0;
  for (const auto& gather : gathers) numbers += gather.numbers();
  if (context == nullptr || numbers < kWorthWaking) {
    for (const auto& gather : gathers) gather.run();
    return;
  }
  context->threads.run(static_cast<std::int64_t>(gathers.size()),
                       [&](std::int64_t number, int) { gathers[static_cast<size_t>(number)].make_room(); });
  constexpr std::int64_t kAtOnce = 1 << 16;
  struct Part {
    const Gather<float>* of;
    std::int64_t from, to, pieces, stride, count;
  };
  std::vector<Part> parts;
  for (const auto& gather : gathers) {
    const bool whole = gather.in_one_piece() || gather.from == nullptr;
    const std::int64_t count = whole ? gather.count * gather.pieces : gather.count,
                       stride = whole ? count : gather.stride, all = whole ? 1 : gather.pieces,
                       terms = gather.numbers() / std::max<std::int64_t>(1, gather.pieces * gather.count),
                       at_once = kAtOnce / std::max<std::int64_t>(1, terms),
                       pieces = std::max<std::int64_t>(1, at_once / std::max<std::int64_t>(1, count));
    for (std::int64_t i = 0; i < all; i += pieces) {
      const std::int64_t here = std::min(pieces, all - i);
      if (here > 1) {
        parts.push_back({&gather, i * stride, i * count, here, stride, count});
        continue;
      }
      for (std::int64_t at = 0; at < count; at += at_once)
        parts.push_back({&gather, i * stride + at, i * count + at, 1, 0, std::min(at_once, count - at)});
    }
  }
  context->threads.run(static_cast<std::int64_t>(parts.size()), [&](std::int64_t number, int) {
    const Part& part = parts[static_cast<size_t>(number)];
    for (std::int64_t i = 0; i < part.pieces; ++i)
      part.of->copy(part.from + i * part.stride, part.to + i * part.count, part.count);
  });
}

}  // namespace buoy::model
