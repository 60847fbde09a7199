#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "buoy/analysis/core/state_archive.h"
#include "buoy/analysis/floating/floating_rules.h"
#include "buoy/analysis/sample/forward_view.h"
#include "buoy/analysis/sample/layer_view.h"
#include "buoy/analysis/sample/observed_sample.h"
#include "buoy/result/table.h"
#include "buoy/result/table_schema.h"
#include "buoy/stats/streamed_bootstrap.h"
#include "buoy/trace/manifest.h"

namespace buoy::analysis {

// What a user may set; every analysis takes what concerns it.
struct AnalysisOptions {
  stats::BootstrapOptions bootstrap;
  double epsilon = RuleOptions{}.epsilon;            // mean + epsilon * std
  double share_factor = RuleOptions{}.share_factor;  // a share above this times the uniform one
  double mad_factor = RuleOptions{}.mad_factor;      // median + factor * 1.4826 * MAD
  std::int64_t layer = -1;          // for maps of one layer; -1: the analysis chooses and says so
  std::int64_t head = -1;           // for maps of one head; -1: the mean over the heads
  std::int64_t sample = 0;          // which sample maps are drawn of, by its number in the trace
  std::int64_t rollout_layers = 8;  // truncated rollout: up to this many
  double sink_share = 0.3;          // a head has a sink when a key receives more than this
  std::int64_t recall_keys = 8;     // keys of the first step that are looked for later

  RuleOptions rules() const { return {epsilon, share_factor, mad_factor}; }
};

// Throws UsageError for one that no attention can be above, or all is.
void require_sink_share(const AnalysisOptions& options);

// Everything of the run an analysis may need beside samples.
struct TraceFacts {
  std::string label;  // how tables and figures call this trace
  trace::Manifest manifest;
};

// What an analysis keeps of one sample while its forwards come: sums, and what must wait until it is over.
class SampleAnalysis {
 public:
  virtual ~SampleAnalysis() = default;
  // Layers come from several threads at once, so what is written here belongs to the layer alone; the
  // forwards of one layer come in their order.
  virtual void take(const LayerView& layer) = 0;
  // The forwards of a sample that has arrays without layers (predictions), in their order; at the same time
  // as layers, by a thread of its own.
  virtual void take_forward(const ForwardView& /*forward*/) {}
  // After the last forward, for what needs to know how the sample came out; likewise from several threads.
  virtual void finish_layer(const ObservedSample& /*sample*/, std::int64_t /*l*/) {}
  // Once, after the last layer is finished: reduces what is kept to what end() of the analysis needs.
  virtual void finish(const ObservedSample& /*sample*/) {}
  // Lists what end() needs, and nothing else, for writing and for reading: a trace of level `tables` keeps it
  // in place of records. Read into what begin() of the same sample gave, it must lead to the same tables.
  virtual void state(StateArchive& archive) = 0;
};

// One question asked of one run of a model. It does not know whether records come from the model or from a
// trace. Samples are not kept: memory does not grow with their number. One object per run.
class Analysis {
 public:
  virtual ~Analysis() = default;
  // Before the first forward of a sample, several of which may be under way; begin() and end() are not called
  // at the same time. Throws InputError when the sample lacks what is needed.
  virtual std::unique_ptr<SampleAnalysis> begin(const SampleFacts& sample) = 0;
  // After its last forward, with what begin() gave, finished or read; samples come in the order of the run.
  // Drops what was kept in case this sample is drawn, when it is not: states are written behind it.
  virtual void end(const ObservedSample& sample, SampleAnalysis& kept) = 0;
  // After the last sample. Always the same tables with the same columns for the same options.
  virtual std::vector<Table> tables() const = 0;
};

// A row of the table of analyses (registry.cc).
struct AnalysisKind {
  const Producer& producer;
  std::span<const TableSchema* const> tables;  // in the order it makes them
  std::unique_ptr<Analysis> (*make)(const TraceFacts& facts, const AnalysisOptions& options);
  // What only several traces together can say, from the analysis of each after its last sample; further
  // tables, which say themselves what they are about. Null for analyses of single traces.
  std::vector<Table> (*compare)(std::span<const std::unique_ptr<Analysis>> traces,
                                const AnalysisOptions& options) = nullptr;
  bool of_tasks = false;  // asks how tasks differ, so it also takes traces that are there for that alone
  // Needs what "all" does not observe: nobody misses it where it was not asked for.
  bool on_request = false;
  // Takes what "all" observes, and yet is made only where it is named.
  bool only_named = false;
};

// Every analysis there is, in the order of the report.
const std::vector<AnalysisKind>& analysis_kinds();
// Throws UsageError with the names there are.
const AnalysisKind& find_analysis(std::string_view name);

}  // namespace buoy::analysis
