#pragma once

#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include "buoy/run/live/live_stream.h"
#include "buoy/run/live/live_times.h"
#include "buoy/run/loaded_model.h"
#include "buoy/run/tracer.h"

namespace buoy::run {

// Decodes prompts one after the other while sinks take their records on other threads.
class LiveTracer {
 public:
  LiveTracer(const Context& context, LoadedModel& model, const Request& request,
             const analysis::RuleOptions& rules);

  // Where records lie that wait for the end of their sample; see Tracer.
  void hold_in(std::filesystem::path folder) { tracer_.hold_in(std::move(folder)); }

  // Of a sample that is about to run; `as_f32` are arrays that F16 cannot hold, known from the run before.
  using MakeSink =
      std::function<std::unique_ptr<LiveSink>(const LiveSample& sample, const std::set<std::string>& as_f32)>;

  // What is taken is rounded to `rounding`; whether F16 does for every array is known when the sample is
  // over: where it does not, it is run again. Errors of the prompt are thrown.
  struct Ran {
    const observe::Subject& subject;
    const decode::StepMachine& machine;
  };
  struct ToRun {
    const ItemPrompt& prompt;
    std::size_t number;
    trace::Storage rounding = trace::Storage::kF32;
    bool halves = false;     // values are stored as F16, by the trace or by the sink
    bool with_rows = false;  // the rows that write the answer are observed, whatever else is
  };
  // `ran` is called when the sample is over, before its end is handed to the sink.
  void run(const ToRun& sample, const MakeSink& make_sink, const std::function<void(const Ran&)>& ran);

  // Until every sample has ended.
  LiveTimes wait();

  const Tracer& tracer() const { return tracer_; }

 private:
  struct UnderWay {
    std::optional<LiveSample> sample;
    std::shared_ptr<LiveStream::Work> work;
    Tracer::Watched watched;
  };

  UnderWay& watch(const ToRun& sample, const StoredTypes& types, const MakeSink& make_sink);

  LoadedModel& model_;
  Tracer tracer_;
  double handing_on_ = 0;
  std::deque<std::unique_ptr<UnderWay>> under_way_;
  LiveStream stream_;  // last: its threads use the others
};

}  // namespace buoy::run
