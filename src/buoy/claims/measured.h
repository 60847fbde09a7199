#pragma once

#include <cstdint>
#include <string>

#include "buoy/claims/verdict.h"

namespace buoy::claims {

// A number that a verdict rests on, apart from the words of its evidence.
struct Measured {
  std::string quantity;  // QuantityRule::what, or one of those below
  std::string value;     // "0.31 [0.2, 0.42]"; over layers "-0.7 to 0.85"
  Finding finding = Finding::kLacking;
  std::string why;  // remark on it: "not decided by this data", "4 samples are too few"
  std::int64_t samples = 0;
};

// Quantities that no rule with a margin names.
inline constexpr const char* kLayersByTask = "layers whose anchor depends on the task";
inline constexpr const char* kLayersByTaskAlike = "layers whose anchor depends on tasks of like length";
inline constexpr const char* kDiffusionGain = "gain of masked diffusion";
inline constexpr const char* kAutoregressiveGain = "gain of the autoregressive model";

}  // namespace buoy::claims
