#include "app/inspect_trace.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>

#include "base/error.h"
#include "base/files.h"
#include "base/json_file.h"
#include "base/progress.h"
#include "trace/reader.h"

namespace buoy::app {
namespace {

struct Counts {
  size_t done = 0, failed = 0;
  std::uint64_t bytes = 0;
};

Counts count(const trace::TraceReader& reader) {
  Counts counts;
  for (const auto& entry : reader.samples()) {
    ++(entry.status == trace::Status::kDone ? counts.done : counts.failed);
    counts.bytes += entry.bytes;
  }
  return counts;
}

// The arrays of the first whole sample, with their shapes: all samples of a run hold the same ones.
Json arrays_of(const trace::TraceReader& reader) {
  Json arrays = Json::object();
  for (const auto& entry : reader.samples()) {
    if (entry.status != trace::Status::kDone) continue;
    const auto sample = reader.read(entry.id, trace::Integrity::kSizeOnly);
    for (const auto& name : sample.names())
      arrays[name] = {{"dtype", sample.dtype(name)}, {"shape", sample.shape(name)}};
    break;
  }
  return arrays;
}

}  // namespace

bool is_trace(const std::filesystem::path& folder) {
  return path_exists(folder / "manifest.json");
}

void inspect_trace(const std::filesystem::path& folder, bool json) {
  const auto reader = trace::TraceReader::open(folder);
  const auto& manifest = reader.manifest();
  const auto problems = reader.verify();
  const Counts counts = count(reader);
  const Json arrays = problems.empty() ? arrays_of(reader) : Json::object();
  if (json) {
    const Json out = {{"complete", reader.complete()},
                      {"model", manifest.model.name},
                      {"family", manifest.model.family},
                      {"planned", manifest.sample_ids.size()},
                      {"done", counts.done},
                      {"failed", counts.failed},
                      {"bytes", counts.bytes},
                      {"arrays", arrays},
                      {"problems", problems}};
    fmt::print("{}\n", out.dump(2));
  } else {
    const auto line = [](const char* label, const std::string& value) {
      fmt::print("{:<12} {}\n", label, value);
    };
    line("trace", fmt::format("{}, made by {} ({})",
                              reader.complete() ? "complete" : "unfinished: continue it with --resume",
                              manifest.created_by, manifest.machine));
    line("model", fmt::format("{} ({}), {} layers, {} heads, weights in {}", manifest.model.name,
                              manifest.model.family, manifest.model.layers, manifest.model.heads,
                              manifest.model.stored_dtype));
    line("decoding", fmt::format("{}, seed {}", manifest.decoding, manifest.seed));
    line("samples", fmt::format("{} of {} done, {} failed, {}", counts.done, manifest.sample_ids.size(),
                                counts.failed, describe_bytes(counts.bytes)));
    for (const auto& [name, array] : arrays.items())
      line("array",
           fmt::format("{:<24} {} {}", name, array["dtype"].get<std::string>(), array["shape"].dump()));
    for (const auto& problem : problems) line("problem", problem);
  }
  if (!problems.empty()) throw InputError(folder.string() + ": the trace is not whole; see above");
}

}  // namespace buoy::app
