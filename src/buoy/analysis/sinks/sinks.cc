// Attention sinks: in how many heads, how they live over the steps, who looks at them, how long the values
// there are.

#include <algorithm>

#include "buoy/analysis/core/interval_cells.h"
#include "buoy/analysis/core/quantity_tables.h"
#include "buoy/analysis/core/uniform.h"
#include "buoy/analysis/sinks/sample_sinks.h"
#include "buoy/result/schema/sinks.h"
#include "buoy/trace/schema.h"

namespace buoy::analysis {
namespace {

class Sinks final : public Analysis {
 public:
  Sinks(const TraceFacts& facts, const AnalysisOptions& options)
      : epsilon_(options.sink_share),
        axis_(facts.manifest),
        summary_(kSinkMeasures, options.bootstrap),
        above_(2 * kEpsilonCount, options.bootstrap),
        nulls_(2 * kEpsilonCount) {
    require_sink_share(options);
  }

  std::unique_ptr<SampleAnalysis> begin(const SampleFacts& sample) override {
    require_array(sample, trace::kReceived);
    axis_.take(sample);
    return std::make_unique<SampleSinks>(sample, epsilon_);
  }

  void end(const ObservedSample& sample, SampleAnalysis& given) override {
    const auto& kept = dynamic_cast<const SampleSinks&>(given);
    summary_.add(sample, kept.means);
    above_.add(sample.id(), std::vector<double>(kept.above.begin(), kept.above.end()));
    add_nulls(sample);
  }

  std::vector<Table> tables() const override {
    return {summary_.layers(schema::sinks_by_layer, axis_), summary_.steps(schema::sinks_by_step),
            summary_.heads(schema::sinks_by_head, axis_), by_epsilon()};
  }

 private:
  // Even attention of the same queries and keys, mean over the steps.
  void add_nulls(const ObservedSample& sample) {
    stats::Moments above(2 * kEpsilonCount);
    // Without blocks all steps are alike.
    for (std::int64_t s = 0; s < (sample.blocks ? sample.step_count() : 1); ++s) {
      const auto even = uniform_received(sample.reach_at(s));
      const double best = *std::max_element(even.begin(), even.end());
      for (std::int64_t e = 0; e < kEpsilonCount; ++e) {
        const double epsilon = kSinkEpsilons[static_cast<size_t>(e)];
        above.add(e, even.front() > epsilon ? 1 : 0);
        above.add(kEpsilonCount + e, best > epsilon ? 1 : 0);
      }
    }
    nulls_.add(above.means());
  }

  Table by_epsilon() const {
    const auto& t = schema::sinks_by_epsilon;
    Table table(t);
    for (const bool best : {false, true}) {
      for (std::int64_t e = 0; e < kEpsilonCount; ++e) {
        const std::int64_t cell = (best ? kEpsilonCount : 0) + e;
        const stats::Estimate share = above_.interval(cell);
        if (share.samples == 0) continue;
        table.add({{t.key, std::string(best ? "best" : "first")},
                   {t.epsilon, number_cell(kSinkEpsilons[static_cast<size_t>(e)])},
                   {t.share, interval_cells(clipped(share, stats::kShares))},
                   {t.null, number_cell(nulls_.mean(cell))},
                   {t.samples, share.samples}});
      }
    }
    return table;
  }

  double epsilon_;
  LayerAxis axis_;
  QuantitySummary summary_;
  stats::StreamedBootstrap above_;  // [2, epsilons]
  stats::Moments nulls_;
};

}  // namespace

std::unique_ptr<Analysis> make_sinks(const TraceFacts& facts, const AnalysisOptions& options) {
  return std::make_unique<Sinks>(facts, options);
}

}  // namespace buoy::analysis
