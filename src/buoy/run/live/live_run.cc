#include "buoy/run/live/live_run.h"

#include <algorithm>
#include <chrono>
#include <map>

#include "buoy/analysis/core/sample_run.h"
#include "buoy/base/error.h"
#include "buoy/observe/number_set.h"

namespace buoy::run {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// The sample in all analyses; begin() and end() of an analysis are not called at the same time.
class AnalysisSink final : public LiveSink {
 public:
  AnalysisSink(analysis::AnalysedTrace& run, const std::string& label, std::mutex& mutex,
               const analysis::SampleFacts& sample)
      : run_(run), label_(label), mutex_(mutex) {
    const std::lock_guard lock(mutex_);
    sample_.emplace(run.analyses, sample);
  }

  void take(const analysis::LayerView& layer) override { sample_->take(layer); }
  void finish_layer(const analysis::ObservedSample& sample, std::int64_t l) override {
    sample_->finish_layer(sample, l);
  }
  void end(const analysis::ObservedSample& sample) override {
    const std::lock_guard lock(mutex_);
    sample_->end(sample);
  }
  void fail(const analysis::ObservedSample& sample, const std::string& error) override {
    const std::lock_guard lock(mutex_);
    run_.skipped.push_back({label_, sample.id(), error});
  }

 private:
  analysis::AnalysedTrace& run_;
  const std::string& label_;
  std::mutex& mutex_;
  std::optional<analysis::SampleRun> sample_;
};

class LiveRun {
 public:
  LiveRun(const Context& context, LoadedModel& model, const TraceRun& run, const LiveAnalyses& analyses)
      : model_(model),
        run_(run),
        label_(analyses.label),
        tracer_(context, model.model, run.request, model.tokenizer),
        // The model's own thread is busy; on a GPU little else is.
        stream_(model.model.config().layers, context.threads.size() - 1, analyses.options.rules()) {
    const analysis::TraceFacts facts{analyses.label, run.manifest};
    for (const auto& name : analyses.names)
      out_.analyses.push_back(analysis::find_analysis(name).make(facts, analyses.options));
  }

  analysis::AnalysedTrace go(const LiveProgress& progress) {
    const auto& ids = run_.manifest.sample_ids;
    for (std::size_t n = 0; n < ids.size(); ++n) {
      const auto fail = [&](const Error& error) {
        const std::lock_guard lock(analyses_mutex_);
        out_.skipped.push_back({label_, ids[n], error.what()});
      };
      try {
        run_sample(run_.prompt(n), n);
      } catch (const UsageError& error) {
        fail(error);
      } catch (const InputError& error) {
        fail(error);
      }
      progress.sample_done();
    }
    const auto behind = Clock::now();
    stream_.wait();
    if (progress.times != nullptr) *progress.times = {handing_on_, seconds_since(behind)};
    sort_skipped();
    if (out_.skipped.size() == ids.size())
      throw InputError("every sample failed, the first with: " + out_.skipped.front().reason);
    return std::move(out_);
  }

 private:
  struct UnderWay {
    std::unique_ptr<decode::StepMachine> machine;  // when it is over
    std::optional<LiveSample> sample;
    std::shared_ptr<LiveStream::Work> work;
  };

  // Some were found to fail behind the model's back: they are listed in the order of the run all the same.
  void sort_skipped() {
    std::map<std::string_view, std::size_t> number;
    for (const auto& id : run_.manifest.sample_ids) number.emplace(id, number.size());
    std::sort(out_.skipped.begin(), out_.skipped.end(),
              [&](const auto& a, const auto& b) { return number.at(a.id) < number.at(b.id); });
  }

  void run_sample(const ItemPrompt& prompt, std::size_t number) {
    StoredTypes types{run_.manifest.storage, {}};
    for (;;) {
      UnderWay& now = watch(prompt, number, types);
      // Whether an array fits into F16 is known when the sample is over: then it is as a trace would hold it,
      // or it is run again.
      if (types.storage == trace::Storage::kF16) {
        const auto exceeding = stream_.settle(now.work);
        if (!exceeding.empty()) {
          stream_.drop(now.work);
          types.as_f32.insert(exceeding.begin(), exceeding.end());
          continue;
        }
      }
      stream_.end(now.work, now.sample->finish());
      return;
    }
  }

  UnderWay& watch(const ItemPrompt& prompt, std::size_t number, const StoredTypes& types) {
    // A sample stays until all its records were taken: two are under way at most.
    if (under_way_.size() > 1) {
      if (under_way_.front()->work) stream_.settle(under_way_.front()->work);
      under_way_.pop_front();
    }
    UnderWay& now = *under_way_.emplace_back(std::make_unique<UnderWay>());
    try {
      auto watched = tracer_.watch(
          prompt, number,
          [&](const observe::Subject& subject, const decode::StepMachine& machine) -> probe::Probe& {
            const LivePrompt live{prompt, number, is_masked_diffusion(model_.model.config().family),
                                  run_.request.final_row};
            now.sample.emplace(observe::RecordLayout(tracer_.plan(), subject), live, model_.tokenizer,
                               [&](LiveRecord& record) {
                                 const auto start = Clock::now();
                                 stream_.push(now.work, record);
                                 handing_on_ += seconds_since(start);
                               });
            now.sample->follow(machine);
            now.work = stream_.begin(
                *now.sample, types,
                std::make_unique<AnalysisSink>(out_, label_, analyses_mutex_, now.sample->facts()));
            return *now.sample;
          });
      now.machine = std::move(watched.machine);
    } catch (...) {
      if (now.work) stream_.drop(now.work);
      throw;
    }
    return now;
  }

  LoadedModel& model_;
  const TraceRun& run_;
  const std::string label_;
  Tracer tracer_;
  analysis::AnalysedTrace out_;
  std::mutex analyses_mutex_;
  double handing_on_ = 0;
  std::deque<std::unique_ptr<UnderWay>> under_way_;
  LiveStream stream_;  // last: its threads use the others
};

}  // namespace

std::string observables_for(const std::vector<std::string>& analyses) {
  std::vector<std::string> names;
  for (const auto& name : analyses) {
    for (const auto& one : observe::split_list(std::string(analysis::find_analysis(name).producer.observe))) {
      if (std::find(names.begin(), names.end(), one) == names.end()) names.push_back(one);
    }
  }
  std::string out;
  for (const auto& name : names) out += (out.empty() ? "" : ",") + name;
  return out;
}

analysis::AnalysedTrace run_live(const Context& context, LoadedModel& model, const TraceRun& run,
                                 const LiveAnalyses& analyses, const LiveProgress& progress) {
  check_decoding(model.model.config(), run.request.decode);
  return LiveRun(context, model, run, analyses).go(progress);
}

}  // namespace buoy::run
