#pragma once

#include <cstdint>
#include <vector>

namespace buoy::analysis {

struct SampleFacts;

// The observed forwards of a loop that decodes blocks. Some denoise, the last may look at the final row;
// those that store the prompt or a finished block are no steps of denoising, and their rows are in that look.
struct BlockForwards {
  std::int64_t length = 1, origin = 0;  // of the blocks while they are denoised
  std::vector<std::uint8_t> kinds;      // [observed]: trace::StepKind
  std::vector<std::int32_t> rows_run;   // [observed, 2]: the first row that ran, and where they end
  std::vector<std::int32_t> reveals;    // [reveals, 3]: forward, position, token; in their order

  bool denoises(std::int64_t place) const;
  bool looks(std::int64_t place) const;  // at the final row

  // Of every position, the last forward before `number` that revealed it; -1: none.
  std::vector<std::int32_t> revealed_before(std::int64_t tokens, std::int32_t number) const;
  std::int32_t last_reveal() const;  // -1: none
};

// Shows analyses the forwards that denoise, as steps, and the look at the final row. `sample.steps` holds the
// numbers of all observed forwards and is cut down to the steps.
void show_denoising(SampleFacts& sample);

}  // namespace buoy::analysis
