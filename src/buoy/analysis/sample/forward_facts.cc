#include "buoy/analysis/sample/forward_facts.h"

namespace buoy::analysis {

void classify(const SampleFacts& sample, ForwardFacts& forward) {
  forward.classes =
      PositionClasses(sample, {forward.types, forward.masked, forward.revealed_at, forward.number});
}

}  // namespace buoy::analysis
