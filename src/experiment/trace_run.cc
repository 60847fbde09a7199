#include "experiment/trace_run.h"

#include "base/error.h"
#include "trace/writer.h"

namespace buoy::experiment {

TraceRunResult run_trace(const Context& context, LoadedModel& model, const TraceRun& run,
                         const TraceRunProgress& progress) {
  Tracer tracer(context, model.model, run.tracer, model.tokenizer);
  progress.begin(tracer.expected_bytes(run.prompt(0)));
  auto writer = run.resume ? trace::TraceWriter::resume(run.folder, run.manifest)
                           : trace::TraceWriter::create(run.folder, run.manifest);
  TraceRunResult result;
  std::string first_failure;
  const auto& ids = run.manifest.sample_ids;
  for (std::size_t n = 0; n < ids.size(); ++n) {
    const auto fail = [&](const Error& error) {
      writer.write_failure(ids[n], error.what());
      if (result.failed++ == 0) first_failure = error.what();
    };
    if (!writer.has(ids[n])) {
      try {
        writer.write(tracer.run(run.prompt(n), n).sample);
      } catch (const UsageError& error) {
        fail(error);
      } catch (const InputError& error) {
        fail(error);
      }
    }
    progress.step();
  }
  writer.finish();
  result.samples = ids.size() - result.failed;
  if (result.samples == 0)
    throw InputError(run.folder.string() + ": every sample failed, the first with: " + first_failure);
  return result;
}

}  // namespace buoy::experiment
