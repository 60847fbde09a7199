#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "buoy/analysis/sample/position_classes.h"

namespace buoy::analysis {

struct StructureClass {
  std::string_view dimension, name;  // "kind", "structural"
};

// What received attention is added up over: token types, structure against content, and where the answer is.
inline constexpr std::array kStructureClasses = {
    StructureClass{"type", "mask"},        StructureClass{"type", "padding"},
    StructureClass{"type", "special"},     StructureClass{"type", "template"},
    StructureClass{"type", "white_space"}, StructureClass{"type", "punctuation"},
    StructureClass{"type", "digit"},       StructureClass{"type", "content"},
    StructureClass{"kind", "structural"},  StructureClass{"kind", "content"},
    StructureClass{"kind", "mask"},        StructureClass{"kind", "padding"},
    StructureClass{"gold", "gold"},        StructureClass{"gold", "evidence"},
};
inline constexpr auto kStructureCount = static_cast<std::int64_t>(kStructureClasses.size());
// From here on: the classes that are followed over depth and head by head.
inline constexpr std::int64_t kStructural = 8, kGold = 12, kEvidence = 13;

// Where the answer is: what of the classes is the same at every forward.
struct AnswerPlaces {
  explicit AnswerPlaces(const SampleFacts& sample);

  std::vector<std::uint8_t> gold, evidence;  // [tokens]; empty when the sample has none
};

// Adds attention up over the classes of one sample at one forward.
class StructureClasses {
 public:
  StructureClasses(const AnswerPlaces& places, std::span<const TokenType> types);

  using Masses = std::array<double, kStructureCount>;

  // Attention on each class; NaN for gold and evidence where the sample has none.
  Masses mass(std::span<const double> received) const;
  // The same of many vectors, [vectors, tokens].
  std::vector<Masses> masses(std::span<const double> received) const;

 private:
  template <size_t kVectors>
  void add_up(const double* received, Masses* sums) const;

  bool has_gold_, has_evidence_;
  std::int64_t tokens_;
  std::array<std::vector<std::int32_t>, kStructureCount> positions_;  // of each class
};

}  // namespace buoy::analysis
