#pragma once

#include <cstdint>

#include "buoy/analysis/core/analysis.h"

namespace buoy::testing {

// A sample of a large masked-diffusion model with made-up records.
class LargeSample {
 public:
  struct Shape {
    std::int64_t layers, heads, tokens, answer, steps;
  };
  explicit LargeSample(const Shape& shape);

  // Bytes of what an analysis keeps of it; `drawn` is the number of the sample that maps are drawn of.
  std::uint64_t state_of(const analysis::AnalysisKind& kind, std::int64_t drawn) const;

 private:
  trace::Manifest manifest_;
  analysis::ObservedSample sample_;
};

}  // namespace buoy::testing
