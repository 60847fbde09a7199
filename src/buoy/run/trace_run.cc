#include "buoy/run/trace_run.h"

#include <exception>
#include <optional>

#include "buoy/base/error.h"
#include "buoy/trace/writer.h"

namespace buoy::run {

namespace {

// The first prompt that can be made says what a sample takes; when none can, each will say why in the trace.
std::optional<observe::Recorder::Bytes> bytes_of_first(const ModelConfig& config, const TraceRun& run) {
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
      return expected_bytes(config, run.request, *prompt);
    } catch (const UsageError&) {
      if (!first) first = std::current_exception();
    }
  }
  if (first) std::rethrow_exception(first);
  return std::nullopt;
}

}  // namespace

TraceRunResult run_trace(const Context& context, LoadedModel& model, const TraceRun& run,
                         const TraceRunProgress& progress) {
  check_decoding(model.model.config(), run.request.decode);
  Tracer tracer(context, model.model, run.request, model.tokenizer);
  progress.begin(bytes_of_first(model.model.config(), run).value_or(observe::Recorder::Bytes{}));
  auto writer = run.resume ? trace::TraceWriter::resume(run.folder, run.manifest)
                           : trace::TraceWriter::create(run.folder, run.manifest);
  TraceRunResult result;
  const auto& ids = run.manifest.sample_ids;
  for (std::size_t n = 0; n < ids.size(); ++n) {
    const auto fail = [&](const Error& error) {
      writer.write_failure(ids[n], error.what());
      result.failed.push_back({ids[n], error.what()});
    };
    if (!writer.has(ids[n])) {
      try {
        const auto traced = tracer.run(run.prompt(n), n);
        writer.write(traced.sample);
        if (model.tokenizer)
          result.ids_without_text += model.tokenizer->count_without_token(traced.machine->generated());
      } catch (const UsageError& error) {
        fail(error);
      } catch (const InputError& error) {
        fail(error);
      }
    }
    progress.step();
  }
  writer.finish();
  result.samples = ids.size() - result.failed.size();
  if (result.samples == 0)
    throw InputError(run.folder.string() +
                     ": every sample failed, the first with: " + result.failed.front().error);
  return result;
}

}  // namespace buoy::run
