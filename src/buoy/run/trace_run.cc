#include "buoy/run/trace_run.h"

#include <algorithm>
#include <exception>
#include <map>
#include <optional>

#include "buoy/analysis/core/kept.h"
#include "buoy/base/error.h"
#include "buoy/run/live/trace_sink.h"
#include "buoy/run/possible_analyses.h"
#include "buoy/trace/reader.h"

namespace buoy::run {

namespace {

// The first prompt that can be made says what a sample takes; when none can, each will say why in the trace.
std::optional<SampleBytes> bytes_of_first(const ModelConfig& config, const TraceRun& run) {
  std::exception_ptr first;
  for (std::size_t n = 0; n < run.manifest.sample_ids.size(); ++n) {
    std::optional<ItemPrompt> prompt;
    try {
      prompt = run.prompt(n);
    } catch (const UsageError&) {
      continue;
    } catch (const InputError&) {
      continue;
    }
    try {
      // What a full trace would take as less, it would with every analysis that it allows.
      const auto& names = run.analyses.names;
      return expected_bytes(config, run.request, *prompt,
                            names.empty() ? analyses_within(run.request.plan()) : names);
    } catch (const UsageError&) {
      if (!first) first = std::current_exception();
    }
  }
  if (first) std::rethrow_exception(first);
  return std::nullopt;
}

RunBytes bytes_of_run(const ModelConfig& config, const TraceRun& run) {
  const auto samples = static_cast<std::uint64_t>(run.manifest.sample_ids.size());
  return {bytes_of_first(config, run).value_or(SampleBytes{}), run.request.keep, samples,
          static_cast<std::uint64_t>(run.request.compact_samples)};
}

class Run {
 public:
  Run(const Context& context, LoadedModel& model, TraceRun& run)
      : context_(context),
        model_(model),
        run_(run),
        tracer_(context, model, run.request, run.analyses.options.rules()) {
    const analysis::TraceFacts facts{run.analyses.label, run.manifest};
    shared_.names = run.analyses.names;
    for (const auto& name : shared_.names)
      shared_.analyses.push_back(analysis::find_analysis(name).make(facts, run.analyses.options));
    if (run.folder.empty()) return;
    shared_.writer.emplace(run.resume ? trace::TraceWriter::resume(run.folder, run.manifest)
                                      : trace::TraceWriter::create(run.folder, run.manifest));
    if (run.resume && !shared_.names.empty()) before_.emplace(trace::TraceReader::open(run.folder));
  }

  void take(std::size_t n) {
    const auto& id = run_.manifest.sample_ids[n];
    if (is_written(id)) return take_written(id, n);
    try {
      answer(n);
    } catch (const UsageError& error) {
      shared_.fail(id, error.what());
    } catch (const InputError& error) {
      shared_.fail(id, error.what());
    }
  }

  TraceRunResult finish(LiveTimes* times) {
    const auto waited = tracer_.wait();
    if (times != nullptr) *times = waited;
    const auto& ids = run_.manifest.sample_ids;
    // Some were found to fail behind the model's back: they are listed in the order of the run all the same.
    std::map<std::string_view, std::size_t> number;
    for (const auto& id : ids) number.emplace(id, number.size());
    std::sort(shared_.failed.begin(), shared_.failed.end(),
              [&](const auto& a, const auto& b) { return number.at(a.id) < number.at(b.id); });
    if (shared_.writer) shared_.writer->finish();
    TraceRunResult result;
    for (const auto& [id, error] : shared_.failed) {
      result.failed.push_back({id, error});
      result.analysed.skipped.push_back({run_.analyses.label, id, error});
    }
    result.samples = ids.size() - result.failed.size();
    if (result.samples == 0) {
      const std::string where = run_.folder.empty() ? "" : run_.folder.string() + ": ";
      throw InputError(where + "every sample failed, the first with: " + result.failed.front().error);
    }
    result.ids_without_text = ids_without_text_;
    result.names = shared_.names;
    result.analysed.analyses = std::move(shared_.analyses);
    return result;
  }

 private:
  bool is_written(const std::string& id) {
    const std::lock_guard lock(shared_.mutex);
    return shared_.writer && shared_.writer->has(id);
  }

  // Analyses go on behind what was kept of it.
  void take_written(const std::string& id, std::size_t n) {
    if (!before_) return;
    tracer_.wait();  // samples end in the order of the run
    analysis::StoredSource source(before_->manifest(), before_->read(id));
    source.set_number(static_cast<std::int64_t>(n));
    analysis::StoredRun stored(source, shared_.names, shared_.analyses);
    stored.work(run_.analyses.options.rules(), context_.threads);
    stored.end();
  }

  void answer(std::size_t n) {
    const auto prompt = run_.prompt(n);
    const bool halves = run_.manifest.storage == trace::Storage::kF16;
    Keeping keeping{run_.request.keep, is_chosen(n)};
    TraceSink* sink = nullptr;
    // Analyses see what a trace would hold; the file of a full one rounds for itself.
    const auto rounding = shared_.names.empty() ? trace::Storage::kF32 : run_.manifest.storage;
    tracer_.run(
        {prompt, n, rounding, halves, keeping.chosen},
        [&](const LiveSample& sample, const std::set<std::string>& as_f32) {
          keeping.as_f32 = as_f32;
          auto made = std::make_unique<TraceSink>(shared_, sample.facts(), keeping, &sample.layout());
          sink = made.get();
          return made;
        },
        [&](const LiveTracer::Ran& ran) {
          sink->close(tracer_.tracer().frame(prompt, ran.machine, ran.subject));
          if (model_.tokenizer)
            ids_without_text_ += model_.tokenizer->count_without_token(ran.machine.generated());
        });
  }

  bool is_chosen(std::size_t n) const {
    const auto number = static_cast<std::int64_t>(n);
    return run_.request.keep == trace::Level::kCompact && !run_.folder.empty() &&
           (number < run_.request.compact_samples || number == run_.analyses.options.sample);
  }

  const Context& context_;
  LoadedModel& model_;
  const TraceRun& run_;
  SharedRun shared_;
  std::optional<trace::TraceReader> before_;  // what an interrupted run left
  std::int64_t ids_without_text_ = 0;
  LiveTracer tracer_;  // last: its threads use the others
};

}  // namespace

TraceRunResult run_trace(const Context& context, LoadedModel& model, const TraceRun& asked,
                         const TraceRunProgress& progress) {
  check_decoding(model.model.config(), asked.request.decode);
  TraceRun run = asked;
  const auto left_out = leave_out_impossible(model, run);
  if (run.request.keep != trace::Level::kFull)
    run.manifest.analyses = analysis::describe_kept(run.analyses.names, run.analyses.options);
  const auto bytes = bytes_of_run(model.model.config(), run);
  progress.begin(bytes);
  if (!run.ignore_space && !run.folder.empty()) require_space(bytes, run.folder);
  Run samples(context, model, run);
  for (std::size_t n = 0; n < run.manifest.sample_ids.size(); ++n) {
    samples.take(n);
    progress.step();
  }
  auto result = samples.finish(progress.times);
  result.left_out = left_out;
  return result;
}

}  // namespace buoy::run
