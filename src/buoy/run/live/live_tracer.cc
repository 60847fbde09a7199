#include "buoy/run/live/live_tracer.h"

#include <chrono>
#include <future>
#include <system_error>

#include "buoy/run/live/compact_arrays.h"

namespace buoy::run {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Files and states of a large model take milliseconds: they are made while its first layer runs. All that is
// given must stay until the sink is there.
std::future<std::unique_ptr<LiveSink>> under_way(const LiveTracer::MakeSink& make_sink,
                                                 const LiveSample& sample, const StoredTypes& types) {
  const auto make = [&make_sink, &sample, &types] { return make_sink(sample, types.as_f32); };
  try {
    return std::async(std::launch::async, make);
  } catch (const std::system_error&) {
    return std::async(std::launch::deferred, make);  // no thread to be had: whoever asks for it makes it
  }
}

}  // namespace

LiveTracer::LiveTracer(const Context& context, LoadedModel& model, const Request& request,
                       const analysis::RuleOptions& rules)
    : model_(model),
      tracer_(context, model.model, request, model.tokenizer),
      // The model's own thread is busy; on a GPU little else is.
      stream_(model.model.config().layers, context.threads.size() - 1, rules) {}

void LiveTracer::run(const ToRun& sample, const MakeSink& make_sink,
                     const std::function<void(const Ran&)>& ran) {
  StoredTypes types{sample.rounding, {}};
  for (;;) {
    UnderWay& now = watch(sample, types, make_sink);
    if (sample.halves) {
      stream_.settle(now.work);
      const auto exceeding = LiveStream::exceeding_f16(*now.work);
      if (!exceeding.empty()) {
        stream_.drop(now.work);
        now.work.reset();
        types.as_f32.insert(exceeding.begin(), exceeding.end());
        continue;
      }
    }
    ran({now.watched.subject, *now.watched.machine});
    stream_.end(now.work, now.sample->finish());
    return;
  }
}

LiveTracer::UnderWay& LiveTracer::watch(const ToRun& sample, const StoredTypes& types,
                                        const MakeSink& make_sink) {
  // A sample stays until all its records were taken: two are under way at most.
  if (under_way_.size() > 1) {
    if (under_way_.front()->work) stream_.settle(under_way_.front()->work);
    under_way_.pop_front();
  }
  UnderWay& now = *under_way_.emplace_back(std::make_unique<UnderWay>());
  const auto plan = sample.with_rows ? with_rows(tracer_.plan()) : tracer_.plan();
  const auto make_probe = [&](const observe::Subject& subject,
                              const decode::StepMachine& machine) -> probe::Probe& {
    const ModelConfig& config = model_.model.config();
    const LivePrompt live{sample.prompt, sample.number,
                          decode::decodes_masks(config, tracer_.request().decode),
                          decode::mask_of(config, tracer_.request().decode), tracer_.request().final_row};
    now.sample.emplace(observe::RecordLayout(plan, subject), live, model_.tokenizer, [&](LiveRecord& record) {
      const auto start = Clock::now();
      stream_.push(now.work, record);
      handing_on_ += seconds_since(start);
    });
    now.sample->follow(machine);
    now.work = stream_.begin(*now.sample, types, under_way(make_sink, *now.sample, types));
    return *now.sample;
  };
  try {
    now.watched = tracer_.watch(sample.prompt, sample.number, plan, make_probe);
    LiveStream::require_sink(*now.work);
  } catch (...) {
    if (now.work) stream_.drop(now.work);
    now.work.reset();
    throw;
  }
  return now;
}

LiveTimes LiveTracer::wait() {
  const auto behind = Clock::now();
  stream_.wait();
  return {handing_on_, seconds_since(behind)};
}

}  // namespace buoy::run
