#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "buoy/run/live/live_stream.h"

namespace buoy::run {

// Takes the records of a sample that runs beside others. Its end waits for those of the samples in front of
// it: it becomes a task for whoever keeps their order.
class DeferredSink final : public LiveSink {
 public:
  using Task = std::function<void()>;

  DeferredSink(std::unique_ptr<LiveSink> sink, Task& end) : sink_(std::move(sink)), end_(end) {}

  void take(const analysis::LayerView& layer) override { sink_->take(layer); }
  void take_forward(const analysis::ForwardView& forward) override { sink_->take_forward(forward); }
  std::set<std::string> exceeding_f16() const override { return sink_->exceeding_f16(); }
  void finish_layer(const analysis::ObservedSample& sample, std::int64_t l) override {
    sink_->finish_layer(sample, l);
  }
  void finish(const analysis::ObservedSample& sample) override { sink_->finish(sample); }
  void end(const analysis::ObservedSample& sample) override {
    end_ = [sink = sink_, sample] { sink->end(sample); };
  }
  void fail(const analysis::ObservedSample& sample, const std::string& error) override {
    end_ = [sink = sink_, sample, error] { sink->fail(sample, error); };
  }
  void drop() override { sink_->drop(); }

 private:
  std::shared_ptr<LiveSink> sink_;
  Task& end_;
};

}  // namespace buoy::run
