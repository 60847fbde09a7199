#include "buoy/run/parts/trace_part.h"

#include <algorithm>

#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "buoy/run/identity.h"
#include "buoy/shard/deal.h"
#include "buoy/shard/parent_folder.h"
#include "buoy/trace/index.h"
#include "buoy/trace/manifest_json.h"
#include "buoy/trace/parts/parts.h"

namespace buoy::run {
namespace {

// AnotherRun by the name of what was asked.
template <typename Work>
auto called_as_asked(const Work& work) {
  try {
    return work();
  } catch (const trace::AnotherRun& other) {
    throw other.called(asked_as(other.field()));
  }
}

}  // namespace

trace::TraceWriter resumed(const TraceRun& run) {
  return called_as_asked([&] { return trace::TraceWriter::resume(run.folder, run.manifest); });
}

// A part plans its own samples, or all where it may take any.
trace::TraceWriter part_writer(const TraceRun& run, const Part& part) {
  trace::Manifest own = run.manifest;
  if (!part.steals()) {
    own.sample_ids.clear();
    for (const auto n : part.order()) own.sample_ids.push_back(run.manifest.sample_ids[n]);
  }
  return called_as_asked([&] {
    return part.steals() ? trace::TraceWriter::resume_part(part.folder(), own)
                         : trace::TraceWriter::resume(part.folder(), own);
  });
}

// What each sample is expected to cost; 0 for a prompt that cannot be made, which fails.
std::vector<std::uint64_t> costs_of(const ModelConfig& config, const TraceRun& run) {
  const auto& decode = run.request.decode;
  const std::uint64_t forwards = is_masked_diffusion(config.family) ? forwards_of(config.family, decode) : 0;
  std::vector<std::uint64_t> costs(run.manifest.sample_ids.size(), 0);
  for (std::size_t n = 0; n < costs.size(); ++n) {
    try {
      costs[n] =
          shard::expected_cost({run.prompt(n).prompt.ids.size(),
                                static_cast<std::uint64_t>(std::max(decode.max_new_tokens, 0)), forwards});
    } catch (const UsageError&) {
    } catch (const InputError&) {
    }
  }
  return costs;
}

// The whole run in the folder that its parts share: as an unfinished trace, which every part compares with
// its own request.
void write_plan(const TraceRun& run) {
  const auto& out = run.sharding->out;
  if (shard::write_once(trace::manifest_path(out), trace::format_manifest(run.manifest))) return;
  const auto plan =
      trace::parse_manifest(read_file(trace::manifest_path(out)), trace::manifest_path(out).string());
  called_as_asked([&] {
    trace::require_same_run(plan.manifest, run.manifest, trace::manifest_path(out).string());
    return 0;
  });
}

bool is_joined(const std::filesystem::path& folder) {
  return !folder.empty() && trace::has_parts(folder) && path_exists(trace::manifest_path(folder)) &&
         trace::parse_manifest(read_file(trace::manifest_path(folder)), trace::manifest_path(folder).string())
             .complete;
}

}  // namespace buoy::run
