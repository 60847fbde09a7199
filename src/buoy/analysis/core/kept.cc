#include "buoy/analysis/core/kept.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <type_traits>

#include "buoy/analysis/sample/replay.h"
#include "buoy/base/error.h"
#include "buoy/base/field_name.h"
#include "buoy/trace/schema.h"

namespace buoy::analysis {

namespace {

constexpr double kMostOfAny = 1e9;

// What states depend on, by the names that manifests have for it, with the least it may be. `Options` may be
// const.
template <typename Options, typename Take>
void for_each_setting(Options& options, const Take& take) {
  take("epsilon", options.epsilon, 0);
  take("share_factor", options.share_factor, 0);
  take("mad_factor", options.mad_factor, 0);
  take("layer", options.layer, -1);
  take("head", options.head, -1);
  take("sample", options.sample, 0);
  take("rollout_layers", options.rollout_layers, 1);
  take("sink_share", options.sink_share, 0);
  take("recall_keys", options.recall_keys, 1);
}

// Those that what the analysis keeps depends on.
bool matters(const std::string& analysis, const std::string& setting) {
  if (analysis == "retrieval" || analysis == "tasks" || analysis == "predictions" || analysis == "routing")
    return false;
  const bool has_sinks = analysis == "sinks" || analysis == "heads";
  if (setting == "sink_share" || setting == "recall_keys")
    return setting == "sink_share" ? has_sinks : analysis == "steps";
  if (analysis == "rollout") return setting == "sample";
  if (has_sinks || analysis == "steps" || analysis == "kvdrift") return false;
  return (analysis == "flow") == (setting == "rollout_layers");
}

}  // namespace

trace::KeptAnalyses describe_kept(const std::vector<std::string>& names, const AnalysisOptions& options) {
  trace::KeptAnalyses kept{names, {}};
  for_each_setting(options, [&](const char* name, const auto& value, double /*least*/) {
    kept.settings[name] = static_cast<double>(value);
  });
  return kept;
}

void take_settings(const trace::KeptAnalyses& kept, const std::set<std::string>& names,
                   AnalysisOptions& options) {
  for_each_setting(options, [&](const char* name, auto& value, double least) {
    const auto found = kept.settings.find(name);
    if (found == kept.settings.end() || !names.contains(name)) return;
    // What makes no sense is left to require_kept().
    if (found->second >= least && found->second <= kMostOfAny)
      value = static_cast<std::remove_reference_t<decltype(value)>>(found->second);
  });
}

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
            [&](std::int64_t l) { run_.finish_layer(sample, l); },
            [&](const ForwardView& forward) { run_.take_forward(forward); }});
    return;
  }
  run_.read([&](size_t a) {
    const auto array = trace::state_name(names_[a]);
    require_array(sample, array);
    return StateArchive(source_.stored().bytes(array), source_.stored().where(array));
  });
}

}  // namespace buoy::analysis
