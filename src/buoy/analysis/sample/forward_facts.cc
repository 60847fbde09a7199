#include "buoy/analysis/sample/forward_facts.h"

namespace buoy::analysis {

void classify(const SampleFacts& sample, ForwardFacts& forward) {
  forward.reach = sample.reach_of(forward.place);
  for (size_t j = 0; j < forward.types.size(); ++j)
    forward.types[j] = type_at_forward(forward.types[j], forward.masked[j] != 0,
                                       static_cast<std::int64_t>(j) >= forward.answer_end);
  forward.classes = PositionClasses(sample, {forward.types, forward.masked, forward.revealed_at,
                                             forward.number, forward.answer_end, forward.reach.end});
}

}  // namespace buoy::analysis
