#include "buoy/run/trace_run.h"

#include <algorithm>
#include <exception>
#include <optional>

#include "buoy/base/error.h"
#include "buoy/run/live/live_tracer.h"
#include "buoy/run/live/trace_sink.h"

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
      return expected_bytes(config, run.request, *prompt, {});
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

}  // namespace

TraceRunResult run_trace(const Context& context, LoadedModel& model, const TraceRun& run,
                         const TraceRunProgress& progress) {
  check_decoding(model.model.config(), run.request.decode);
  LiveTracer tracer(context, model, run.request, {});
  const auto bytes = bytes_of_run(model.model.config(), run);
  progress.begin(bytes);
  if (!run.ignore_space) require_space(bytes, run.folder);
  SharedTrace trace{run.resume ? trace::TraceWriter::resume(run.folder, run.manifest)
                               : trace::TraceWriter::create(run.folder, run.manifest)};
  TraceRunResult result;
  const auto& ids = run.manifest.sample_ids;
  for (std::size_t n = 0; n < ids.size(); ++n) {
    const auto fail = [&](const Error& error) {
      const std::lock_guard lock(trace.mutex);
      trace.writer.write_failure(ids[n], error.what());
      result.failed.push_back({ids[n], error.what()});
    };
    const auto is_written = [&] {
      const std::lock_guard lock(trace.mutex);
      return trace.writer.has(ids[n]);
    };
    if (!is_written()) {
      try {
        const auto prompt = run.prompt(n);
        TraceSink* sink = nullptr;
        tracer.run(
            {prompt, n, trace::Storage::kF32, run.manifest.storage == trace::Storage::kF16},
            [&](const LiveSample& sample, const std::set<std::string>& as_f32) {
              auto made = std::make_unique<TraceSink>(
                  trace, sample.layout(), sample_plan(sample.layout(), sample.facts(), {.as_f32 = as_f32}));
              sink = made.get();
              return made;
            },
            [&](const LiveTracer::Ran& ran) {
              sink->close(tracer.tracer().frame(prompt, ran.machine, ran.subject));
              if (model.tokenizer)
                result.ids_without_text += model.tokenizer->count_without_token(ran.machine.generated());
            });
      } catch (const UsageError& error) {
        fail(error);
      } catch (const InputError& error) {
        fail(error);
      }
    }
    progress.step();
  }
  tracer.wait();
  for (const auto& failed : trace.failed) result.failed.push_back(failed);
  const auto number = [&](const FailedSample& failed) {
    return std::find(ids.begin(), ids.end(), failed.id) - ids.begin();
  };
  std::sort(result.failed.begin(), result.failed.end(),
            [&](const auto& a, const auto& b) { return number(a) < number(b); });
  trace.writer.finish();
  result.samples = ids.size() - result.failed.size();
  if (result.samples == 0)
    throw InputError(run.folder.string() +
                     ": every sample failed, the first with: " + result.failed.front().error);
  return result;
}

}  // namespace buoy::run
