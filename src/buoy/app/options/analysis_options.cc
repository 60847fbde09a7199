#include "buoy/app/options/analysis_options.h"

#include <algorithm>

#include "buoy/app/options/shared_options.h"

namespace buoy::app {

analysis::RunOptions AnalysisCall::settled() const {
  analysis::RunOptions options = run;
  for (const Option* setting : state_settings) {
    if (setting->given()) continue;
    std::string field = setting->name().substr(2);
    std::replace(field.begin(), field.end(), '-', '_');
    options.free_settings.insert(field);
  }
  return options;
}

std::vector<const Option*> add_state_settings(Command& command, analysis::AnalysisOptions& options) {
  return {
      command.add_option("--epsilon", options.epsilon, "floating: mean + epsilon standard deviations (3)")
          ->positive(),
      command
          .add_option("--share-factor", options.share_factor,
                      "floating: this many times the uniform share (4)")
          ->positive(),
      command
          .add_option("--mad-factor", options.mad_factor,
                      "floating: median + this many robust deviations (6)")
          ->positive(),
      command.add_option("--layer", options.layer, "layer that maps show")->nonnegative(),
      command.add_option("--head", options.head, "head that maps show (default: the mean)")->nonnegative(),
      command.add_option("--sample", options.sample, "sample that maps show, by its number (0)")
          ->nonnegative(),
      command.add_option("--rollout-layers", options.rollout_layers, "longest truncated rollout (8)")
          ->positive(),
      command.add_option("--sink-share", options.sink_share, "sinks: a key that receives more is one (0.3)")
          ->range(0, 1),
      command
          .add_option("--recall-keys", options.recall_keys,
                      "steps: this many best keys of the first step are looked for later (8)")
          ->positive()};
}

std::vector<const Option*> add_analysis_settings(Command& command, analysis::AnalysisOptions& options) {
  auto settings = add_state_settings(command, options);
  add_resamples_option(command, options.bootstrap.replicates)->alias("--replicates");
  command.add_option("--confidence", options.bootstrap.confidence, "of intervals (0.95)")->range(0.5, 0.999);
  return settings;
}

Option* add_analysis_options(Command& command, AnalysisCall& call) {
  auto& options = call.run.analysis;
  auto* traces = command.add_option("traces", call.traces, "folders of traces; LABEL=TRACE to name one")
                     ->type_name("TRACE...");
  add_limit_option(command, call.run.limit);
  call.state_settings = add_analysis_settings(command, options);
  add_seed_option(command, options.bootstrap.seed);
  add_trust_flag(command, call.run.trust);
  return traces;
}

}  // namespace buoy::app
