#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "buoy/analysis/core/position_classes.h"

namespace buoy::analysis {

struct StructureClass {
  std::string_view dimension, name;  // "kind", "structural"
};

// What received attention is added up over: token types, structure against content, and where the answer is.
inline constexpr std::array kStructureClasses = {
    StructureClass{"type", "mask"},        StructureClass{"type", "special"},
    StructureClass{"type", "template"},    StructureClass{"type", "white_space"},
    StructureClass{"type", "punctuation"}, StructureClass{"type", "digit"},
    StructureClass{"type", "content"},     StructureClass{"kind", "structural"},
    StructureClass{"kind", "content"},     StructureClass{"kind", "mask"},
    StructureClass{"gold", "gold"},        StructureClass{"gold", "evidence"},
};
inline constexpr auto kStructureCount = static_cast<std::int64_t>(kStructureClasses.size());
// From here on: the classes that are followed over depth and head by head.
inline constexpr std::int64_t kStructural = 7, kGold = 10, kEvidence = 11;

// Adds attention up over the classes of one sample.
class StructureClasses {
 public:
  explicit StructureClasses(const ObservedSample& sample);

  void at_step(const PositionClasses& classes);
  // Attention on each class; NaN for gold and evidence where the sample has none.
  std::array<double, kStructureCount> mass(std::span<const double> received) const;

 private:
  std::vector<std::uint8_t> gold_, evidence_;  // [tokens]; empty when the sample has none
  std::vector<std::uint16_t> classes_;         // [tokens]: one bit per class
};

}  // namespace buoy::analysis
