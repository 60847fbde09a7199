#include "buoy/analysis/sample/replay.h"

namespace buoy::analysis {

void replay(const StoredSource& source, const RuleOptions& rules, ThreadPool& threads, const ReplayTo& to) {
  const auto& sample = source.sample();
  std::vector<ForwardFacts> forwards;
  for (std::int64_t s = 0; s < sample.forward_count(); ++s) forwards.push_back(source.forward(s));
  std::vector<LayerScratch> scratch(static_cast<size_t>(threads.size()));
  threads.run(sample.layer_count(), [&](std::int64_t l, int thread) {
    StoredLayer values(source);
    for (const auto& forward : forwards) {
      values.at(forward.index, l);
      to.take({sample, forward, l, values, rules, scratch[static_cast<size_t>(thread)]});
    }
    if (to.layer_done) to.layer_done(l);
  });
}

}  // namespace buoy::analysis
