#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "buoy/base/error.h"
#include "buoy/trace/model_card.h"
#include "buoy/trace/storage.h"

namespace buoy::trace {

// What a sample must be (docs/trace-format.md): the writer asks it before it writes, the reader before
// anything is computed. Behind it every number that is used as an index, a size or the end of a loop is in
// its range.

// One array as it is about to be written or was found.
struct ArrayView {
  std::string_view name;
  std::string_view dtype;  // as safetensors spells it
  std::span<const std::int64_t> shape;
  std::span<const std::byte> bytes;  // as many as shape and dtype take; none before the values are there
};

struct SampleView {
  std::vector<ArrayView> arrays;  // each name once
  const std::map<std::string, std::string>& texts;
};

struct SampleRules {
  std::string where;                 // of the sample; errors name the array or text behind it
  void (*fail)(const Mismatch&);     // throws
  bool refuse_unknown = false;       // names the schema does not have; readers pass over them
  const ModelCard* model = nullptr;  // null: not known, and not compared
  const Storage* storage = nullptr;  // likewise
};

void check_sample(const SampleView& sample, const SampleRules& rules);

// A step has a number below this: no run has as many forwards.
inline constexpr std::int64_t kMostSteps = 1'000'000;
inline constexpr std::int64_t kMostExperts = 4096;  // of a layer

// The values a float array may hold, both ends included; never NaN. Weights are not negative and shares of 1
// not above it (but for rounding). Compared when values are read, since most are never asked for.
struct FloatRange {
  float least, most;
};
std::optional<FloatRange> float_range(std::string_view array);  // nothing for names the schema does not have

}  // namespace buoy::trace
