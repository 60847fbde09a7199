#include "buoy/analysis/sample/block_forwards.h"

#include <algorithm>

#include "buoy/analysis/sample/sample_facts.h"
#include "buoy/trace/schema.h"

namespace buoy::analysis {
namespace {

bool is_kind(const BlockForwards& blocks, std::int64_t place, trace::StepKind kind) {
  return blocks.kinds[static_cast<size_t>(place)] == static_cast<std::uint8_t>(kind);
}

}  // namespace

bool BlockForwards::denoises(std::int64_t place) const {
  return is_kind(*this, place, trace::StepKind::kDenoise);
}

bool BlockForwards::looks(std::int64_t place) const {
  return is_kind(*this, place, trace::StepKind::kFinalRow);
}

std::vector<std::int32_t> BlockForwards::revealed_before(std::int64_t tokens, std::int32_t number) const {
  std::vector<std::int32_t> out(static_cast<size_t>(tokens), -1);
  for (size_t i = 0; i + 2 < reveals.size() && reveals[i] < number; i += 3) {
    if (reveals[i + 1] < tokens) out[static_cast<size_t>(reveals[i + 1])] = reveals[i];
  }
  return out;
}

std::int32_t BlockForwards::last_reveal() const {
  return reveals.empty() ? -1 : reveals[reveals.size() - 3];
}

void show_denoising(SampleFacts& sample) {
  const BlockForwards& blocks = *sample.blocks;
  const auto all = sample.steps;
  sample.steps.clear();
  sample.shown.clear();
  std::int64_t look = -1;
  for (std::int64_t place = 0; place < std::ssize(all); ++place) {
    if (blocks.looks(place)) look = place;
    if (!blocks.denoises(place)) continue;
    sample.shown.push_back(place);
    sample.steps.push_back(all[static_cast<size_t>(place)]);
  }
  sample.sees_final_row = look >= 0;
  if (look >= 0) {
    // Alone, it stands for the steps as well.
    if (sample.steps.empty()) sample.steps = {all[static_cast<size_t>(look)]};
    sample.shown.push_back(look);
  }
  sample.last_forward = std::ssize(sample.shown) - 1;
}

}  // namespace buoy::analysis
