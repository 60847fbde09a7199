#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "buoy/analysis/core/token_type.h"

namespace buoy::analysis {

// A way to sort positions, and one of its classes.
struct PositionClass {
  std::string_view dimension;  // "type", "kind", "state", "age", "position"
  std::string_view name;
};

// What every position of a sample is, step by step: token type, structure or content, prompt or answer and
// masked or not, steps since it was revealed, tenth of the row.
class PositionClasses {
 public:
  static const std::vector<PositionClass>& all();
  static std::int64_t count() { return static_cast<std::int64_t>(all().size()); }
  static std::int64_t find(std::string_view dimension, std::string_view name);

  explicit PositionClasses(const ObservedSample& sample);

  void at_step(std::int64_t s);
  // The classes of a position at this step, one per dimension; -1: none (age of what was not generated).
  const std::array<std::int8_t, 5>& of(std::int64_t position) const {
    return classes_[static_cast<size_t>(position)];
  }
  TokenType type(std::int64_t position) const { return now_[static_cast<size_t>(position)]; }
  // Share of all positions in each class at this step.
  const std::vector<double>& base() const { return base_; }

 private:
  std::int8_t age_class(std::int64_t s, std::int64_t position, bool masked) const;

  const ObservedSample& sample_;
  std::vector<TokenType> types_, now_;
  std::vector<std::array<std::int8_t, 5>> classes_;
  std::vector<double> base_;
};

}  // namespace buoy::analysis
