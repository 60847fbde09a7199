#include "buoy/app/commands/inspect_trace.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>

#include "buoy/analysis/core/kept.h"
#include "buoy/app/commands/inspection_sheet.h"
#include "buoy/base/container/safetensors.h"
#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"
#include "buoy/base/file/mapped_file.h"
#include "buoy/base/progress.h"
#include "buoy/run/change/changes.h"
#include "buoy/shard/parent_folder.h"
#include "buoy/trace/index.h"
#include "buoy/trace/journal.h"
#include "buoy/trace/reader.h"
#include "buoy/trace/schema.h"

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

// What the first whole sample holds: all samples of a run hold the same arrays, and most the same regions.
struct Contents {
  Json arrays = Json::object();  // with their shapes
  std::vector<std::string> regions;
};
Contents contents_of(const trace::TraceReader& reader) {
  Contents out;
  for (const auto& entry : reader.samples()) {
    if (entry.status != trace::Status::kDone) continue;
    const auto sample = reader.read(entry.id);
    for (const auto& name : sample.names())
      out.arrays[name] = {{"dtype", sample.dtype(name)}, {"shape", sample.shape(name)}};
    if (sample.has_text(trace::kRegionNames)) out.regions = sample.text_list(trace::kRegionNames);
    break;
  }
  return out;
}

// Settings of what is kept that are not those of an analysis without options.
std::vector<std::string> other_settings(const trace::KeptAnalyses& kept) {
  const auto usual = analysis::describe_kept(kept.names, {}).settings;
  std::vector<std::string> out;
  for (const auto& [name, value] : kept.settings) {
    const auto found = usual.find(name);
    if (found == usual.end() || found->second != value) out.push_back(fmt::format("{} {:g}", name, value));
  }
  return out;
}

std::string state_of(const std::filesystem::path& folder, const trace::TraceReader& reader) {
  if (reader.complete()) return "complete";
  if (!trace::is_being_written(trace::journal_path(folder))) {
    // Over by now?
    return trace::TraceReader::open(folder).complete() ? "complete" : "stopped";
  }
  return "under way";
}

std::string resume_command(const std::filesystem::path& folder, const trace::Manifest& manifest) {
  if (const auto of_parts = shard::command_that_goes_on(folder)) return *of_parts;
  const std::string resume = " --resume";
  return manifest.command.find(resume) == std::string::npos ? manifest.command + resume : manifest.command;
}

}  // namespace

bool is_trace(const std::filesystem::path& folder) {
  const auto manifest = trace::manifest_path(folder);
  return path_exists(manifest) && read_head(manifest).find("buoy-trace") != std::string::npos;
}

void inspect_sample(const std::filesystem::path& file, bool json) {
  const auto folder = std::filesystem::absolute(file).parent_path().parent_path();
  const MappedFile mapped(file);
  const SafetensorsFile contents = parse_safetensors(mapped.bytes(), file.string());
  InspectionSheet sheet("sample of a trace");
  if (is_trace(folder)) {
    trace::TraceReader::open(folder).read(file.stem().string());
    sheet.add("trace", folder.string() + " (as its manifest says)");
  } else {
    sheet.add("trace", "none around it, so it was not checked against a manifest");
  }
  for (const auto key : {trace::kId, trace::kQuestion, trace::kAnswerText, trace::kAttention}) {
    const auto found = contents.metadata.find(std::string(key));
    if (found != contents.metadata.end()) sheet.add(std::string(key), found->second);
  }
  for (const auto& [name, entry] : contents.tensors)
    sheet.add("array", fmt::format("{:<24} {} {}", name, entry.dtype, Json(entry.shape).dump()));
  sheet.print(json);
}

void inspect_trace(const std::filesystem::path& folder, bool json) {
  const auto reader = trace::TraceReader::open(folder);
  const auto& manifest = reader.manifest();
  const auto problems = reader.verify();
  const Counts counts = count(reader);
  const auto [arrays, regions] = problems.empty() ? contents_of(reader) : Contents{};
  const auto changes = run::changes_of(manifest);
  const std::string state = state_of(folder, reader);
  if (json) {
    const Json out = {{"kind", "trace"},
                      {"state", state},
                      {"complete", reader.complete()},
                      {"level", name_of(manifest.level)},
                      {"analyses", manifest.analyses.names},
                      {"settings", manifest.analyses.settings},
                      {"model", manifest.model.name},
                      {"commit", manifest.model.commit},
                      {"family", manifest.model.family},
                      {"planned", manifest.sample_ids.size()},
                      {"done", counts.done},
                      {"failed", counts.failed},
                      {"bytes", counts.bytes},
                      {"arrays", arrays},
                      {"regions", regions},
                      {"changes", changes},
                      {"problems", problems}};
    fmt::print("{}\n", dump_json(out, 2));
  } else {
    const auto line = [](const char* label, const std::string& value) {
      fmt::print("{:<12} {}\n", label, value);
    };
    const std::string so_far = reader.complete() ? ""
                                                 : fmt::format(": {} of {} samples", reader.samples().size(),
                                                               manifest.sample_ids.size());
    line("trace", fmt::format("{}{}, made by {} ({})", state, so_far, manifest.created_by, manifest.machine));
    if (state == "stopped") {
      // A copy of another trace is not continued.
      const bool is_copy = manifest.command.find("buoy compact ") != std::string::npos;
      line(is_copy ? "remove it, then" : "resume with",
           is_copy ? manifest.command : resume_command(folder, manifest));
    }
    line("model", fmt::format("{} ({}), {} layers, {} heads, weights in {}", manifest.model.name,
                              manifest.model.family, manifest.model.layers, manifest.model.heads,
                              manifest.model.stored_dtype));
    if (!manifest.model.commit.empty()) line("commit", manifest.model.commit);
    if (manifest.level != trace::Level::kFull)
      line("keeps", fmt::format("{}: what {} made of every sample", name_of(manifest.level),
                                fmt::join(manifest.analyses.names, ", ")));
    if (const auto settings = other_settings(manifest.analyses); !settings.empty())
      line("kept with", fmt::format("{}", fmt::join(settings, ", ")));
    line("decoding", fmt::format("{}, seed {}", manifest.decoding, manifest.seed));
    line("samples", fmt::format("{} of {} done, {} failed, {}", counts.done, manifest.sample_ids.size(),
                                counts.failed, describe_bytes(counts.bytes)));
    if (!changes.empty()) line("changed", fmt::format("{}", fmt::join(changes, ", ")));
    if (!regions.empty()) line("regions", fmt::format("{}", fmt::join(regions, ", ")));
    for (const auto& [name, array] : arrays.items())
      line("array",
           fmt::format("{:<24} {} {}", name, array["dtype"].get<std::string>(), array["shape"].dump()));
    for (const auto& problem : problems) line("problem", problem);
  }
  if (!problems.empty()) throw InputError(folder.string() + ": the trace is not whole; see above");
}

}  // namespace buoy::app
