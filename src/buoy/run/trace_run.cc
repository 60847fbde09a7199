#include "buoy/run/trace_run.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <map>
#include <optional>

#include "buoy/analysis/core/kept.h"
#include "buoy/base/error.h"
#include "buoy/decode/block_families.h"
#include "buoy/run/identity.h"
#include "buoy/run/live/deferred_sink.h"
#include "buoy/run/live/trace_sink.h"
#include "buoy/run/possible_analyses.h"
#include "buoy/run/sample_workers.h"
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
          static_cast<std::uint64_t>(run.request.compact_samples),
          run.with_results ? results_allowance(run.analyses.names.size()) : 0};
}

// Of the first prompt that can be made, with its answer; 0 when none can.
std::int64_t row_length(const TraceRun& run) {
  for (std::size_t n = 0; n < run.manifest.sample_ids.size(); ++n) {
    try {
      return std::ssize(run.prompt(n).prompt.ids) +
             std::max<std::int64_t>(run.request.decode.max_new_tokens, 0);
    } catch (const UsageError&) {
    } catch (const InputError&) {
    }
  }
  return 0;
}

trace::TraceWriter resumed(const TraceRun& run) {
  try {
    return trace::TraceWriter::resume(run.folder, run.manifest);
  } catch (const trace::AnotherRun& other) {
    throw other.called(asked_as(other.field()));
  }
}

class Run {
 public:
  Run(const Context& context, LoadedModel& model, TraceRun& run)
      : context_(context),
        run_(run),
        workers_(context, model,
                 samples_at_once(model.model, context.threads.size(), run.manifest.sample_ids.size(),
                                 row_length(run))) {
    for (int worker = 0; worker < workers_.count(); ++worker)
      tracers_.push_back(std::make_unique<LiveTracer>(workers_.context(worker), workers_.model(worker),
                                                      run.request, run.analyses.options.rules()));
    const analysis::TraceFacts facts{run.analyses.label, run.manifest};
    shared_.names = run.analyses.names;
    for (const auto& name : shared_.names)
      shared_.analyses.push_back(analysis::find_analysis(name).make(facts, run.analyses.options));
    if (run.folder.empty()) return;
    shared_.writer.emplace(run.resume ? resumed(run) : trace::TraceWriter::create(run.folder, run.manifest));
    if (run.resume && !shared_.names.empty()) before_.emplace(trace::TraceReader::open(run.folder));
  }

  // All samples: they end in the order of the run, whoever runs them.
  void take_all(const std::function<void()>& step) {
    workers_.run_in_order(run_.manifest.sample_ids.size(), [&](std::size_t n, int worker) {
      return [&step, end = take(n, worker)] {
        end();
        step();
      };
    });
  }

  TraceRunResult finish(LiveTimes* times) {
    LiveTimes waited;
    for (const auto& tracer : tracers_) waited += tracer->wait().divided_by(workers_.count());
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

  // Returns what is left to do when the samples in front have ended.
  SampleWorkers::Task take(std::size_t n, int worker) {
    const auto& id = run_.manifest.sample_ids[n];
    if (is_written(id)) return [this, &id, n] { take_written(id, n); };
    const auto fail = [&](const Error& error) {
      return [this, &id, why = std::string(error.what())] { shared_.fail(id, why); };
    };
    try {
      return answer(n, worker);
    } catch (const UsageError& error) {
      return fail(error);
    } catch (const InputError& error) {
      return fail(error);
    }
  }

  // Analyses go on behind what was kept of it.
  void take_written(const std::string& id, std::size_t n) {
    if (!before_) return;
    if (workers_.count() == 1) tracers_.front()->wait();  // until the samples in front have ended
    analysis::StoredSource source(before_->manifest(), before_->read(id));
    source.set_number(static_cast<std::int64_t>(n));
    // Other workers may begin samples meanwhile.
    std::optional<analysis::StoredRun> stored;
    {
      const std::lock_guard lock(shared_.mutex);
      stored.emplace(source, shared_.names, shared_.analyses);
    }
    stored->work(run_.analyses.options.rules(), context_.threads);
    const std::lock_guard lock(shared_.mutex);
    stored->end();
  }

  // One worker alone runs the next sample while the ends of earlier ones are under way.
  SampleWorkers::Task answer(std::size_t n, int worker) {
    const auto prompt = run_.prompt(n);
    LiveTracer& tracer = *tracers_[static_cast<std::size_t>(worker)];
    SampleWorkers::Task end = [] {};
    const bool halves = run_.manifest.storage == trace::Storage::kF16;
    Keeping keeping{run_.request.keep, is_chosen(n)};
    TraceSink* sink = nullptr;
    // Analyses see what a trace would hold; the file of a full one rounds for itself.
    const auto rounding = shared_.names.empty() ? trace::Storage::kF32 : run_.manifest.storage;
    tracer.run(
        {prompt, n, rounding, halves, keeping.chosen},
        [&](const LiveSample& sample, const std::set<std::string>& as_f32) -> std::unique_ptr<LiveSink> {
          keeping.as_f32 = as_f32;
          auto made = std::make_unique<TraceSink>(shared_, sample.facts(), keeping, &sample.layout());
          sink = made.get();
          if (workers_.count() == 1) return made;
          return std::make_unique<DeferredSink>(std::move(made), end);
        },
        [&](const LiveTracer::Ran& ran) {
          sink->close(tracer.tracer().frame(prompt, ran.machine, ran.subject));
          if (const auto& tokenizer = workers_.model(worker).tokenizer)
            ids_without_text_ += tokenizer->count_without_token(ran.machine.generated());
        });
    if (workers_.count() > 1) tracer.wait();  // its last records, and its end, which is ours to call
    return end;
  }

  bool is_chosen(std::size_t n) const {
    const auto number = static_cast<std::int64_t>(n);
    return run_.request.keep == trace::Level::kCompact && !run_.folder.empty() &&
           (number < run_.request.compact_samples || number == run_.analyses.options.sample);
  }

  const Context& context_;
  const TraceRun& run_;
  SampleWorkers workers_;
  SharedRun shared_;
  std::optional<trace::TraceReader> before_;  // what an interrupted run left
  std::atomic<std::int64_t> ids_without_text_ = 0;
  std::vector<std::unique_ptr<LiveTracer>> tracers_;  // one a worker; last: their threads use the others
};

}  // namespace

TraceRunResult run_trace(const Context& context, LoadedModel& model, const TraceRun& asked,
                         const TraceRunProgress& progress) {
  check_decoding(model.model.config(), asked.request.decode);
  TraceRun run = asked;
  const ModelConfig& config = model.model.config();
  run.manifest.blocks = decode::decodes_blocks(config, run.request.decode);
  // Analyses take whole rows: those of blocks are in the look at the final row, which a trace holds.
  if (run.manifest.blocks && (!run.analyses.names.empty() || run.request.keep != trace::Level::kFull))
    refuse_observing(config, run.request.decode);
  const auto left_out = leave_out_impossible(model, run);
  if (run.request.keep != trace::Level::kFull)
    run.manifest.analyses = analysis::describe_kept(run.analyses.names, run.analyses.options);
  const auto bytes = bytes_of_run(model.model.config(), run);
  progress.begin(bytes);
  if (!run.ignore_space && !run.folder.empty()) require_space(bytes, run.folder);
  Run samples(context, model, run);
  samples.take_all(progress.step);
  auto result = samples.finish(progress.times);
  result.left_out = left_out;
  return result;
}

}  // namespace buoy::run
