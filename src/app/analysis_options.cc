#include "app/analysis_options.h"

#include <fmt/format.h>

#include <map>

#include "app/shared_options.h"
#include "base/error.h"
#include "base/progress.h"
#include "base/say.h"
#include "trace/reader.h"

namespace buoy::app {

Option* add_analysis_options(Command& command, AnalysisCall& call) {
  auto& options = call.run.analysis;
  auto* traces = command.add_option("traces", call.traces, "folders of traces; LABEL=TRACE to name one")
                     ->type_name("TRACE...");
  add_limit_option(command, call.run.limit);
  command.add_option("--epsilon", options.epsilon, "floating: mean + epsilon standard deviations (3)")
      ->positive();
  command
      .add_option("--share-factor", options.share_factor, "floating: this many times the uniform share (4)")
      ->positive();
  command
      .add_option("--mad-factor", options.mad_factor, "floating: median + this many robust deviations (6)")
      ->positive();
  command.add_option("--layer", options.layer, "layer that maps show")->nonnegative();
  command.add_option("--head", options.head, "head that maps show (default: the mean)")->nonnegative();
  command.add_option("--sample", options.sample, "sample that maps show, by its number (0)")->nonnegative();
  command.add_option("--rollout-layers", options.rollout_layers, "longest truncated rollout (8)")->positive();
  add_resamples_option(command, options.bootstrap.replicates)->alias("--replicates");
  command.add_option("--confidence", options.bootstrap.confidence, "of intervals (0.95)")->range(0.5, 0.999);
  add_seed_option(command, options.bootstrap.seed);
  add_trust_flag(command, call.run.trust);
  return traces;
}

std::vector<analysis::TraceInput> labelled_traces(const std::vector<NamedPath>& traces,
                                                  trace::Integrity integrity) {
  std::vector<analysis::TraceInput> inputs;
  std::map<std::string, int> uses;
  for (const auto& [name, folder] : traces) {
    const auto reader = trace::TraceReader::open(folder, integrity);
    inputs.push_back({folder, name.empty() ? reader.manifest().model.name : name});
    ++uses[inputs.back().label];
  }
  for (auto& input : inputs) {
    if (uses[input.label] > 1)
      input.label =
          fmt::format("{} ({})", input.label,
                      std::filesystem::absolute(input.folder).lexically_normal().filename().string());
  }
  std::map<std::string, std::string> seen;
  for (const auto& input : inputs) {
    const auto [entry, is_new] = seen.try_emplace(input.label, input.folder.string());
    if (!is_new) {
      throw_usage_error({"traces", "a different label for each, as in A=" + entry->second,
                         fmt::format("\"{}\" twice", input.label)});
    }
  }
  return inputs;
}

analysis::RunResult run_with_progress(const std::vector<std::string>& names,
                                      const std::vector<analysis::TraceInput>& traces,
                                      const analysis::RunOptions& run) {
  std::int64_t total = 0;
  for (const auto& input : traces) {
    const auto reader = trace::TraceReader::open(input.folder, run.integrity());
    if (!reader.complete())
      say("note: {} is not complete; what it has so far is analysed\n", input.folder.string());
    const auto samples = static_cast<std::int64_t>(reader.samples().size());
    total += run.limit > 0 ? std::min(samples, run.limit) : samples;
  }
  Progress progress(stderr, "sample", total);
  analysis::RunOptions options = run;
  options.on_sample = [&] { progress.advance(); };
  auto result = analysis::run_analyses(names, traces, options);
  for (const auto& skipped : result.skipped)
    say("note: {}: sample {} failed while it was traced: {}\n", skipped.trace, skipped.id, skipped.reason);
  return result;
}

}  // namespace buoy::app
