#include "buoy/analysis/sample/replay.h"

#include "buoy/trace/schema.h"

namespace buoy::analysis {

void replay(const StoredSource& source, const RuleOptions& rules, ThreadPool& threads, const ReplayTo& to) {
  const auto& sample = source.sample();
  std::vector<ForwardFacts> forwards;
  for (std::int64_t place = 0; place < sample.observed_count(); ++place)
    forwards.push_back(source.forward(place));
  std::vector<LayerScratch> scratch(static_cast<size_t>(threads.size()));
  const std::int64_t layers = sample.layer_count();
  const bool of_forwards = to.take_forward && sample.has(trace::kPredictedConfidence);
  threads.run(layers + (of_forwards ? 1 : 0), [&](std::int64_t l, int thread) {
    StoredLayer values(source);
    if (l == layers) {
      for (const auto& forward : forwards) {
        values.at(forward.place, 0);
        to.take_forward({sample, forward, values});
      }
      return;
    }
    for (const auto& forward : forwards) {
      values.at(forward.place, l);
      to.take({sample, forward, l, values, rules, scratch[static_cast<size_t>(thread)]});
    }
    if (to.layer_done) to.layer_done(l);
  });
}

}  // namespace buoy::analysis
