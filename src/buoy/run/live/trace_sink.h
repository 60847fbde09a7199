#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "buoy/analysis/core/run.h"
#include "buoy/analysis/core/sample_run.h"
#include "buoy/run/live/compact_arrays.h"
#include "buoy/run/live/live_stream.h"
#include "buoy/trace/level.h"
#include "buoy/trace/writer.h"

namespace buoy::run {

// What the samples of a run go into: a trace, analyses, or both. Several threads use it.
struct SharedRun {
  std::optional<trace::TraceWriter> writer = {};
  std::vector<std::string> names = {};  // of the analyses
  std::vector<std::unique_ptr<analysis::Analysis>> analyses = {};
  struct Failure {
    std::string id, error;
  };
  std::vector<Failure> failed = {};
  std::mutex mutex = {};
  std::function<void(const std::string& id)> ended = {};  // written or failed; may be empty

  void fail(const std::string& id, const std::string& error);
};

// How much is kept of a sample.
struct Keeping {
  trace::Level level = trace::Level::kFull;
  bool chosen = false;                // of those that compact keeps more of
  std::set<std::string> as_f32 = {};  // arrays that F16 cannot hold
  // Of this sample alone, in place of those of the run; null: those.
  std::shared_ptr<std::vector<std::unique_ptr<analysis::Analysis>>> analyses = {};
};

// The arrays of a sample in the order of its file: what frames it, what is observed (full) or made of it
// (compact), what is known of tokens. States of analyses come behind them. `observed` is asked for full
// alone.
trace::SamplePlan sample_plan(const analysis::SampleFacts& sample, const Keeping& keeping,
                              const observe::RecordLayout* observed = nullptr);

// Takes a sample while it runs, record by record: hands it to the analyses, and writes what is kept of it.
class TraceSink final : public LiveSink {
 public:
  // `observed` says what a running sample is asked for; a stored one has its whole frame.
  TraceSink(SharedRun& run, const analysis::SampleFacts& sample, const Keeping& keeping,
            const observe::RecordLayout* observed = nullptr);

  // When the sample is over: its texts, and arrays that did not come record by record.
  void close(trace::Sample frame) { frame_ = std::move(frame); }

  void take(const analysis::LayerView& layer) override;
  void take_forward(const analysis::ForwardView& forward) override;
  std::set<std::string> exceeding_f16() const override;
  void finish_layer(const analysis::ObservedSample& sample, std::int64_t l) override;
  void finish(const analysis::ObservedSample& sample) override;
  void end(const analysis::ObservedSample& sample) override;
  void fail(const analysis::ObservedSample& sample, const std::string& error) override;
  void drop() override { file_.reset(); }

 private:
  void put_observed(const analysis::LayerView& layer);
  template <typename View>
  void put_cell(const observe::RecordLayout::Part& part, std::int64_t cell, const View& values);
  void write(const analysis::ObservedSample& sample);

  SharedRun& run_;
  std::optional<observe::RecordLayout> observed_;
  trace::Level level_;
  std::shared_ptr<std::vector<std::unique_ptr<analysis::Analysis>>> own_;
  std::optional<analysis::SampleRun> analyses_;
  std::optional<CompactArrays> compact_;
  std::unique_ptr<trace::SampleFile> file_;  // null: nothing is written
  trace::Sample frame_;
  std::optional<trace::SampleEntry> written_;  // its file, when it is whole
};

}  // namespace buoy::run
