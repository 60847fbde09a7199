#include "buoy/ops/vector_targets.h"

#include <hwy/targets.h>

#include <cstdint>

namespace buoy::ops {

std::vector<VectorTarget> vector_targets() {
  std::vector<VectorTarget> targets;
  bool found = false;
  // Highway gives better targets lower bits.
  for (std::int64_t rest = HWY_TARGETS; rest != 0; rest &= rest - 1) {
    const std::int64_t bit = rest & -rest;
    const bool usable = (hwy::SupportedTargets() & bit) != 0;
    targets.push_back({hwy::TargetName(bit), usable, usable && !found});
    found = found || usable;
  }
  return targets;
}

}  // namespace buoy::ops
