#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "buoy/run/live/live_stream.h"
#include "buoy/run/trace_run.h"
#include "buoy/trace/level.h"
#include "buoy/trace/writer.h"

namespace buoy::run {

// A trace that several threads write to.
struct SharedTrace {
  trace::TraceWriter writer;
  std::vector<FailedSample> failed = {};  // whose records could not be taken
  std::mutex mutex = {};
};

// Writes a sample into a trace while it runs, record by record.
class TraceSink final : public LiveSink {
 public:
  // `plan` holds the arrays and texts that are known before the sample runs.
  TraceSink(SharedTrace& trace, const observe::RecordLayout& layout, trace::SamplePlan plan);

  // When the sample is over: its texts, and arrays that did not come record by record.
  void close(trace::Sample frame) { frame_ = std::move(frame); }

  void take(const analysis::LayerView& layer) override;
  std::set<std::string> exceeding_f16() const override { return file_->exceeding_f16(); }
  void end(const analysis::ObservedSample& sample) override;
  void fail(const analysis::ObservedSample& sample, const std::string& error) override;

 private:
  SharedTrace& trace_;
  observe::RecordLayout layout_;
  std::unique_ptr<trace::SampleFile> file_;
  trace::Sample frame_;
};

// How much is kept of a sample.
struct Keeping {
  trace::Level level = trace::Level::kFull;
  bool chosen = false;                // of those that compact keeps more of
  std::set<std::string> as_f32 = {};  // arrays that F16 cannot hold
};

// The arrays of a sample in the order of its file: what frames it, what is observed (full) or made of it
// (compact), what is known of tokens. States of analyses come behind them.
trace::SamplePlan sample_plan(const observe::RecordLayout& layout, const analysis::SampleFacts& sample,
                              const Keeping& keeping);

}  // namespace buoy::run
