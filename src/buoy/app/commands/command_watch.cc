#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "buoy/app/cluster/fleet.h"
#include "buoy/app/command_line.h"
#include "buoy/app/commands/announce.h"
#include "buoy/app/commands/commands.h"
#include "buoy/app/options/analysis_options.h"
#include "buoy/app/options/flags.h"
#include "buoy/app/options/model_folder.h"
#include "buoy/app/options/prompt_source.h"
#include "buoy/app/options/shard_options.h"
#include "buoy/app/options/shared_options.h"
#include "buoy/base/counted.h"
#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "buoy/base/say.h"
#include "buoy/base/stopwatch.h"
#include "buoy/observe/number_set.h"
#include "buoy/run/trace_request.h"
#include "buoy/study/merged_run.h"

namespace buoy::app {
namespace {

struct WatchOptions {
  ModelOptions model;
  PromptSource source;
  RequestFlags flags;
  std::string analyze = "all", out;
  analysis::AnalysisOptions analysis;
  bool no_final = false, resume = false, timing = false, ignore_space = false;
  ShardOptions shards;
};

std::vector<std::string> names_of(const std::string& list) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const auto& name : observe::split_list(list)) {
    if (name != "all") {
      analysis::find_analysis(name);
      add(name);
      continue;
    }
    for (const auto& kind : analysis::analysis_kinds()) {
      if (!kind.on_request) add(std::string(kind.producer.name));
    }
  }
  return names;
}

// What would otherwise be found out when the run is over.
void check(const WatchOptions& options, const run::TraceRequest& request) {
  request.plan();
  if (path_exists(options.out) && !is_folder(options.out))
    throw_usage_error({"--out", "a folder", fmt::format("the file \"{}\"", options.out)});
  const auto samples = std::ssize(request.items);
  if (options.analysis.sample >= samples) {
    throw_usage_error({"--sample", fmt::format("a number below {}, the samples of the run", samples),
                       std::to_string(options.analysis.sample)});
  }
}

void watch(WatchOptions options) {
  Stopwatch clock;
  const auto names = names_of(options.analyze);
  options.flags.request.final_row = !options.no_final;
  options.flags.request.observe = run::observables_for(names);
  const bool several = wants_processes(options.shards, options.model.device);
  if (several && options.source.data == "-")
    throw_usage_error({"--data", "a file: every process reads the questions", "standard input"});
  auto request = read_prompt_request(options.source, options.flags);
  check(options, request);
  say_how_samples_go_on();
  const auto& bootstrap = options.analysis.bootstrap;
  const PartedCommand parted{"watch", options.out, bootstrap.replicates, bootstrap.seed};
  if (several) return run_processes(options.shards, options.model.device, parted);
  const auto sharding = place_in_run(options.shards, parted);
  auto loaded = load_model_for(options.source, options.model, request);
  request.folder = options.out;
  request.resume = options.resume;
  request.with_results = true;
  request.ignore_space = options.ignore_space;
  request.command = command_as_typed();
  request.analyses = {names, options.analysis, {}};
  auto run = run::make_trace_run(request, loaded);
  run.analyses.label = run.manifest.model.name;
  run.sharding = sharding;
  clock.lap("loading");

  ThreadPool threads(thread_count(options.model));
  RunProgress progress(sharding, "sample");
  run::LiveTimes times;
  run::TraceRunResult ran;
  progress.run([&] {
    ran = run::run_trace(
        {threads}, loaded, run,
        {.begin =
             [&](const auto& bytes) {
               announce_bytes(bytes, request.folder);
               progress.begin(request.items.size());
             },
         .step = [&] { progress.step(); },
         .times = &times,
         .part = [&](std::size_t samples, std::size_t before) { progress.begin(samples, before); }});
    if (!ran.failed.empty()) progress.failed(ran.failed.size(), ran.failed.back().error);
  });
  clock.lap("decoding");
  clock.within("handing records on", times.handing_on);
  clock.within("waiting for analyses", times.waiting);
  for (const auto& [analysis, reason] : ran.left_out) say("note: {} is left out: {}\n", analysis, reason);
  if (sharding) {
    for (const auto& failed : ran.failed) say("note: sample {} failed: {}\n", failed.id, failed.error);
    fmt::print("{}: {} (buoy merge {} makes the tables)\n", sharding->folder().string(),
               counted(ran.samples, "sample"), options.out);
    if (options.timing) say("{}\n", clock.describe());
    return;
  }
  std::vector<analysis::LabelledRun> runs;
  runs.push_back({run.analyses.label, std::move(ran.analysed)});
  const auto result = analysis::assemble(ran.names, std::move(runs), options.analysis);
  for (const auto& skipped : result.skipped) say("note: sample {} failed: {}\n", skipped.id, skipped.reason);
  clock.lap("tables");
  study::write_analyses(result, options.out);
  clock.lap("writing");
  if (options.timing) say("{}\n", clock.describe());
}

}  // namespace

void add_watch(Command& app) {
  auto* command =
      app.add_subcommand("watch", "decode and analyse at once: tables, figures, and what they are made from");
  auto options = std::make_shared<WatchOptions>();
  options->flags.request.groups = "regions";
  options->flags.request.keep = trace::Level::kTables;
  add_model_options(*command, options->model);
  add_prompt_source(*command, options->source, options->flags);
  add_out_option(*command, options->out)->required();
  command
      ->add_option(
          "--analyze", options->analyze,
          "which analyses, as in floating,drift (default all: but predictions, as in all,predictions)")
      ->type_name("LIST");
  add_analysis_settings(*command, options->analysis);
  const auto* predicted = add_observed_part_options(*command, options->flags.request, options->no_final);
  add_decode_options(*command, options->flags.request.decode);
  add_change_options(*command, options->flags.changes);
  add_keep_option(*command, options->flags.keep);
  const auto* compact = add_compact_samples_option(*command, options->flags.request.compact_samples);
  add_ignore_space_flag(*command, options->ignore_space);
  add_resume_flag(*command, options->resume);
  add_timing_flag(*command, options->timing);
  add_shard_options(*command, options->shards);
  command->footer(
      "Runs the analyses while the model runs. The tables are those that `buoy trace` and `buoy analyze` "
      "would give.\n"
      "Of every sample a few megabytes are kept beside them: `buoy analyze` and `buoy report` read the "
      "folder "
      "like a trace.");
  command->examples({
      {"buoy watch --model models/planted-diffusion --data questions.jsonl --template models/planted.prompt "
       "--max-new-tokens 8 --analyze floating,drift --out results",
       ""},
  });
  command->callback([options, compact, predicted] {
    require_predictions(*predicted, run::observables_for(names_of(options->analyze)));
    require_compact(*compact, read_request(options->flags).keep);
    watch(*options);
  });
}

}  // namespace buoy::app
