#include "buoy/analysis/core/kept.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "buoy/analysis/sample/replay.h"
#include "buoy/base/error.h"
#include "buoy/base/field_name.h"
#include "buoy/trace/schema.h"

namespace buoy::analysis {

trace::KeptAnalyses describe_kept(const std::vector<std::string>& names, const AnalysisOptions& options) {
  return {names,
          {{"epsilon", options.epsilon},
           {"share_factor", options.share_factor},
           {"mad_factor", options.mad_factor},
           {"layer", static_cast<double>(options.layer)},
           {"head", static_cast<double>(options.head)},
           {"sample", static_cast<double>(options.sample)},
           {"rollout_layers", static_cast<double>(options.rollout_layers)}}};
}

namespace {

// Those that what the analysis keeps depends on.
bool matters(const std::string& analysis, const std::string& setting) {
  if (analysis == "retrieval" || analysis == "tasks") return false;
  return (analysis == "flow") == (setting == "rollout_layers");
}

}  // namespace

void require_kept(const trace::Manifest& manifest, const std::vector<std::string>& names,
                  const AnalysisOptions& options, const std::string& where) {
  if (manifest.level == trace::Level::kFull) return;
  const auto& kept = manifest.analyses;
  const auto level = name_of(manifest.level);
  for (const auto& name : names) {
    if (kept.has(name)) continue;
    throw_input_error({where, fmt::format("what {} kept of the samples", name),
                       fmt::format("only that of {} (`keep` was {}; run again with {} among the analyses, or "
                                   "keep full)",
                                   fmt::join(kept.names, ", "), level, name)});
  }
  const auto asked = describe_kept(names, options);
  for (const auto& [setting, value] : asked.settings) {
    const auto found = kept.settings.find(setting);
    if (found != kept.settings.end() && found->second == value) continue;
    const auto concerned = [&](const std::string& name) { return matters(name, setting); };
    if (std::none_of(names.begin(), names.end(), concerned)) continue;
    throw_input_error(
        {where,
         fmt::format("{} {} as in the run that kept {}", field_name(setting),
                     found == kept.settings.end() ? "unknown" : fmt::format("{}", found->second), level),
         fmt::format("{} (another needs a trace that keeps full)", value)});
  }
}

StoredRun::StoredRun(const StoredSource& source, const std::vector<std::string>& names,
                     std::span<const std::unique_ptr<Analysis>> analyses, LackingAnalyses* lacking)
    : source_(source), names_(names), run_(analyses, source.sample(), lacking) {}

void StoredRun::work(const RuleOptions& rules, ThreadPool& threads) {
  const auto& sample = source_.sample();
  if (source_.level() == trace::Level::kFull) {
    replay(source_, rules, threads,
           {[&](const LayerView& layer) { run_.take(layer); },
            [&](std::int64_t l) { run_.finish_layer(sample, l); }});
    return;
  }
  run_.read([&](size_t a) {
    const auto array = trace::state_name(names_[a]);
    require_array(sample, array);
    return StateArchive(source_.stored().bytes(array), source_.stored().where(array));
  });
}

}  // namespace buoy::analysis
