#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "buoy/analysis/sample/sample_facts.h"
#include "buoy/analysis/sample/token_type.h"

namespace buoy::analysis {

// A way to sort positions, and one of its classes.
struct PositionClass {
  std::string_view dimension;  // "type", "kind", "state", "age", "position"
  std::string_view name;
};

// What positions are at one forward.
struct PositionStates {
  std::span<const TokenType> types;           // [tokens], masks among them
  std::span<const std::uint8_t> masked;       // [tokens]
  std::span<const std::int32_t> revealed_at;  // [tokens], -1: prompt, or still masked
  std::int32_t step = 0;                      // number of the forward
  std::int64_t answer_end = INT64_MAX;        // slots from here on are padding, masked or not
  std::int64_t keys = INT64_MAX;              // slots from here on do not exist yet
};

// What every position of a sample is at one forward: token type, structure or content, prompt, padding or
// answer, masked or not, steps since it was revealed, tenth of the row.
class PositionClasses {
 public:
  static const std::vector<PositionClass>& all();
  static std::int64_t count() { return static_cast<std::int64_t>(all().size()); }
  static std::int64_t find(std::string_view dimension, std::string_view name);

  PositionClasses() = default;
  PositionClasses(const SampleFacts& sample, const PositionStates& now);

  // The classes of a position at this step, one per dimension; -1: none (age of what was not generated;
  // everything of what does not exist yet).
  const std::array<std::int8_t, 5>& of(std::int64_t position) const {
    return classes_[static_cast<size_t>(position)];
  }
  // Share of all positions that exist in each class at this step.
  const std::vector<double>& base() const { return base_; }

 private:
  std::vector<std::array<std::int8_t, 5>> classes_;
  std::vector<double> base_;
};

}  // namespace buoy::analysis
