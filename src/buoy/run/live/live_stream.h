#pragma once

#include <atomic>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "buoy/analysis/sample/forward_view.h"
#include "buoy/analysis/sample/layer_view.h"
#include "buoy/run/live/live_layer.h"
#include "buoy/run/live/live_sample.h"
#include "buoy/tensor/lane_executor.h"

namespace buoy::run {

// Who takes the records of one sample.
class LiveSink {
 public:
  virtual ~LiveSink() = default;
  // Layers come from several threads at once, the forwards of one layer in their order.
  virtual void take(const analysis::LayerView& layer) = 0;
  // The forwards of a sample as wholes, in their order; at the same time as layers.
  virtual void take_forward(const analysis::ForwardView& /*forward*/) {}
  // Arrays that it should have been given as F32, of the records so far.
  virtual std::set<std::string> exceeding_f16() const { return {}; }
  virtual void finish_layer(const analysis::ObservedSample& /*sample*/, std::int64_t /*l*/) {}
  // Behind the last layer: what concerns this sample alone.
  virtual void finish(const analysis::ObservedSample& /*sample*/) {}
  // Samples one after the other, in the order they ended in: this one is whole, or its records could not be
  // taken (InputError).
  virtual void end(const analysis::ObservedSample& sample) = 0;
  virtual void fail(const analysis::ObservedSample& sample, const std::string& error) = 0;
  // In place of both: the sample is run again, or not at all. Nothing may be held back for it.
  virtual void drop() {}
};

// Hands records of running samples to sinks, on threads of its own, while the model goes on. What is on its
// way is bounded: the model waits where the sinks cannot keep up.
class LiveStream {
 public:
  // With no threads everything happens at once, in the thread of the model.
  LiveStream(std::int64_t layers, int threads, const analysis::RuleOptions& rules);

  class Work;

  // `sample` must stay until it is settled or dropped. `sink` may still be under way: records wait for it.
  std::shared_ptr<Work> begin(const LiveSample& sample, StoredTypes types,
                              std::future<std::unique_ptr<LiveSink>> sink);
  // Waits for its sink; rethrows what making it threw. Such a sample must be dropped.
  static void require_sink(Work& work);
  // Leaves a used record in the place of the one given.
  void push(const std::shared_ptr<Work>& work, LiveRecord& record);
  // Waits until all records given so far were taken.
  void settle(const std::shared_ptr<Work>& work);
  static bool is_settled(const Work& work);
  // Of a settled sample: why its records could not be taken; "" when they were.
  static const std::string& error(const Work& work);
  // Of a settled sample that has not ended: arrays with values that F16 cannot hold. None, or it must be
  // dropped and run again with them in `as_f32`.
  static std::set<std::string> exceeding_f16(const Work& work);
  void end(const std::shared_ptr<Work>& work, analysis::ObservedSample sample);
  void drop(const std::shared_ptr<Work>& work);
  // Until every sample has ended.
  void wait() { executor_.wait(); }

 private:
  probe::LayerRecord used_record();
  void keep_used(probe::LayerRecord&& record);

  analysis::RuleOptions rules_;
  std::vector<std::unique_ptr<LaneExecutor::Lane>> lanes_;  // one a layer
  LaneExecutor::Lane ends_;
  std::mutex used_mutex_;
  std::vector<probe::LayerRecord> used_;
  std::vector<analysis::LayerScratch> scratch_;  // one a thread
  LaneExecutor executor_;                        // last: its threads use the others
};

}  // namespace buoy::run
