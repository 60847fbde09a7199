#include "buoy/run/live/live_run.h"

#include <algorithm>
#include <map>

#include "buoy/analysis/core/sample_run.h"
#include "buoy/base/error.h"
#include "buoy/observe/number_set.h"

namespace buoy::run {
namespace {

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

// Some were found to fail behind the model's back: they are listed in the order of the run all the same.
void sort_by_run(const std::vector<std::string>& ids, std::vector<analysis::SkippedSample>& skipped) {
  std::map<std::string_view, std::size_t> number;
  for (const auto& id : ids) number.emplace(id, number.size());
  std::sort(skipped.begin(), skipped.end(),
            [&](const auto& a, const auto& b) { return number.at(a.id) < number.at(b.id); });
}

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
  analysis::AnalysedTrace out;
  const analysis::TraceFacts facts{analyses.label, run.manifest};
  for (const auto& name : analyses.names)
    out.analyses.push_back(analysis::find_analysis(name).make(facts, analyses.options));
  std::mutex mutex;
  LiveTracer tracer(context, model, run.request, analyses.options.rules());
  const bool halves = run.manifest.storage == trace::Storage::kF16;
  const auto& ids = run.manifest.sample_ids;
  for (std::size_t n = 0; n < ids.size(); ++n) {
    const auto fail = [&](const Error& error) {
      const std::lock_guard lock(mutex);
      out.skipped.push_back({analyses.label, ids[n], error.what()});
    };
    try {
      tracer.run(
          {run.prompt(n), n, run.manifest.storage, halves},
          [&](const LiveSample& sample, const std::set<std::string>&) {
            return std::make_unique<AnalysisSink>(out, analyses.label, mutex, sample.facts());
          },
          [](const LiveTracer::Ran&) {});
    } catch (const UsageError& error) {
      fail(error);
    } catch (const InputError& error) {
      fail(error);
    }
    progress.sample_done();
  }
  const auto times = tracer.wait();
  if (progress.times != nullptr) *progress.times = times;
  sort_by_run(ids, out.skipped);
  if (out.skipped.size() == ids.size())
    throw InputError("every sample failed, the first with: " + out.skipped.front().reason);
  return out;
}

}  // namespace buoy::run
