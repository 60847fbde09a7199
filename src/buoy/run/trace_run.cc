#include "buoy/run/trace_run.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <set>

#include "buoy/analysis/core/kept.h"
#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"
#include "buoy/base/interrupt.h"
#include "buoy/decode/block_families.h"
#include "buoy/run/held/record_store.h"
#include "buoy/run/live/deferred_sink.h"
#include "buoy/run/live/trace_sink.h"
#include "buoy/run/parts/trace_part.h"
#include "buoy/run/possible_analyses.h"
#include "buoy/run/sample_workers.h"
#include "buoy/shard/parent_folder.h"
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
    for (const auto& tracer : tracers_) tracer->hold_in(run.sharding ? run.sharding->out : run.folder);
    const analysis::TraceFacts facts{run.analyses.label, run.manifest};
    shared_.names = run.analyses.names;
    if (run.sharding) {
      begin_part(model.model.config());
      return;
    }
    for (const auto& name : shared_.names)
      shared_.analyses.push_back(analysis::find_analysis(name).make(facts, run.analyses.options));
    if (run.folder.empty()) return;
    shared_.writer.emplace(run.resume ? resumed(run) : trace::TraceWriter::create(run.folder, run.manifest));
    if (run.resume && !shared_.names.empty()) before_.emplace(trace::TraceReader::open(run.folder));
  }

  // All samples: they end in the order of the run, whoever runs them.
  void take_all(const TraceRunProgress& progress) {
    std::vector<std::size_t> numbers(run_.manifest.sample_ids.size());
    std::iota(numbers.begin(), numbers.end(), std::size_t{0});
    if (part_) {
      numbers = part_->order();
      shared_.ended = [&](const std::string& id) {
        part_->done(number_of_.at(id));
        progress.step();
      };
      tell_part(progress);
    }
    try {
      take(numbers, progress);
      if (!part_) return;
      const auto any = [](std::size_t) { return true; };
      for (;;) {
        for (const auto& tracer : tracers_) tracer->wait();
        const auto left = part_->left_over(any);
        if (left.empty()) return;
        take(left, progress);
      }
    } catch (const Stopped&) {
      for (const auto& tracer : tracers_) tracer->wait();
      throw;
    }
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
    if (shared_.writer) part_ && part_->steals() ? shared_.writer->finish_part() : shared_.writer->finish();
    TraceRunResult result;
    for (const auto& [id, error] : shared_.failed) {
      result.failed.push_back({id, error});
      result.analysed.skipped.push_back({run_.analyses.label, id, error});
    }
    result.samples = (part_ ? taken_.load() : ids.size()) - result.failed.size();
    if (result.samples == 0 && !part_) {
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

  void begin_part(const ModelConfig& config) {
    const auto costs = costs_of(config, run_);
    for (std::size_t n = 0; n < costs.size(); ++n) {
      number_of_.emplace(run_.manifest.sample_ids[n], n);
      can_be_made_.push_back(costs[n] > 0);
    }
    part_.emplace(*run_.sharding, costs);
    write_plan(run_);
    if (!shared_.names.empty()) {
      const auto kept = analysis::describe_kept(shared_.names, run_.analyses.options);
      shard::write_plan(shard::shards_folder(run_.sharding->out) / "analyses.json",
                        dump_json(Json{{"names", kept.names}, {"settings", kept.settings}}) + '\n',
                        "choice of analyses");
    }
    if (path_exists(trace::manifest_path(part_->folder()))) {
      for (const auto& entry : trace::read_index(part_->folder()).entries) {
        if (entry.status == trace::Status::kFailed) again_.insert(entry.id);
      }
    }
    shared_.writer.emplace(part_writer(run_, *part_));
    part_->opened();
    for (const auto& id : run_.manifest.sample_ids) {
      if (shared_.writer->has(id)) part_->done(number_of_.at(id));
    }
  }

  void tell_part(const TraceRunProgress& progress) const {
    if (!progress.part) return;
    const auto& ids = run_.manifest.sample_ids;
    const auto written =
        std::count_if(ids.begin(), ids.end(), [&](const auto& id) { return shared_.writer->has(id); });
    progress.part(part_->own_count(), static_cast<std::size_t>(written));
  }

  void take(const std::vector<std::size_t>& numbers, const TraceRunProgress& progress) {
    workers_.run_in_order(numbers.size(), [&](std::size_t i, int worker) -> SampleWorkers::Task {
      stop_here();
      const std::size_t n = numbers[i];
      if (part_) {
        const auto& id = run_.manifest.sample_ids[n];
        if (is_written(id) || !part_->take(n, again_.contains(id))) return [] {};
        ++taken_;
        return take(n, worker);
      }
      return [&progress, end = take(n, worker)] {
        end();
        progress.step();
      };
    });
  }

  // Analyses of a part know nothing of the other samples: which of them maps draw is decided by numbers. (A
  // sample that fails only when it is run moves the choice, which a part cannot know.)
  std::shared_ptr<std::vector<std::unique_ptr<analysis::Analysis>>> analyses_of(std::size_t n) const {
    if (!part_ || run_.request.keep == trace::Level::kFull) return nullptr;
    const auto number = static_cast<std::int64_t>(n);
    const auto ended_before =
        std::count(can_be_made_.begin(), can_be_made_.begin() + static_cast<std::ptrdiff_t>(n), true);
    auto options = run_.analyses.options;
    if (number < options.sample || ended_before > options.sample) options.sample = INT64_MAX;
    const analysis::TraceFacts facts{run_.analyses.label, run_.manifest};
    auto made = std::make_shared<std::vector<std::unique_ptr<analysis::Analysis>>>();
    for (const auto& name : shared_.names)
      made->push_back(analysis::find_analysis(name).make(facts, options));
    return made;
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
          keeping.analyses = analyses_of(n);
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
    return run_.request.keep == trace::Level::kCompact && (part_ || !run_.folder.empty()) &&
           (number < run_.request.compact_samples || number == run_.analyses.options.sample);
  }

  const Context& context_;
  const TraceRun& run_;
  SampleWorkers workers_;
  SharedRun shared_;
  std::optional<trace::TraceReader> before_;  // what an interrupted run left
  std::optional<Part> part_;                  // of a run in parts
  std::map<std::string, std::size_t> number_of_;
  std::set<std::string> again_;    // failed in this part before
  std::vector<bool> can_be_made_;  // [samples]: their prompts
  std::atomic<std::size_t> taken_ = 0;
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
  const auto left_out = leave_out_impossible(model, run);
  if (run.request.keep != trace::Level::kFull)
    run.manifest.analyses = analysis::describe_kept(run.analyses.names, run.analyses.options);
  auto bytes = bytes_of_run(model.model.config(), run);
  // Records of blocks wait for the end of their sample: see RecordStore, and Tracer for those of a GPU.
  if (run.manifest.blocks && model.model.device() == Device::kCpu &&
      bytes.each.full > RecordStore::most_in_memory())
    bytes.held = bytes.each.full;
  progress.begin(bytes);
  const auto& target = run.sharding ? run.sharding->out : run.folder;
  if (!run.ignore_space && !target.empty()) require_space(bytes, target);
  if (!run.sharding) require_no_parts(run.folder, is_joined(run.folder));
  Run samples(context, model, run);
  samples.take_all(progress);
  auto result = samples.finish(progress.times);
  result.left_out = left_out;
  return result;
}

}  // namespace buoy::run
