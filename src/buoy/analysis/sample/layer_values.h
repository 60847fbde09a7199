#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace buoy::analysis {

// The arrays of one forward and layer, or of one forward as a whole, as a trace would hold them: rounded to
// the type it would store. Only arrays that the sample has (SampleFacts::has) may be asked for; what is
// returned stays until the next layer.
class LayerValues {
 public:
  virtual ~LayerValues() = default;
  virtual std::span<const float> floats(std::string_view array) = 0;
  virtual std::span<const std::int32_t> integers(std::string_view array) = 0;
};

}  // namespace buoy::analysis
