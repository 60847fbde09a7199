#include <fmt/format.h>

#include <memory>

#include "buoy/app/cluster/fleet.h"
#include "buoy/app/command_line.h"
#include "buoy/app/commands/announce.h"
#include "buoy/app/commands/commands.h"
#include "buoy/app/options/flags.h"
#include "buoy/app/options/model_folder.h"
#include "buoy/app/options/prompt_source.h"
#include "buoy/app/options/shard_options.h"
#include "buoy/app/options/shared_options.h"
#include "buoy/base/counted.h"
#include "buoy/base/error.h"
#include "buoy/base/say.h"
#include "buoy/base/stopwatch.h"
#include "buoy/run/live/live_analyses.h"
#include "buoy/run/trace_request.h"
#include "buoy/study/failure_list.h"

namespace buoy::app {
namespace {

struct TraceOptions {
  ModelOptions model;
  PromptSource source;
  RequestFlags flags;
  std::filesystem::path out;
  bool no_final = false, resume = false, timing = false, ignore_space = false;
  ShardOptions shards;
};

void report_result(const run::TraceRunResult& result, const std::filesystem::path& folder) {
  std::vector<study::Failure> failures;
  for (const auto& failed : result.failed) failures.push_back({failed.id, failed.error});
  study::print_failures(failures, (folder / "manifest.json").string());
  std::string losses;
  if (!failures.empty()) losses += fmt::format(", {} failed (listed in manifest.json)", failures.size());
  if (result.ids_without_text > 0)
    losses += fmt::format(", {} without text (shown as <id N>)",
                          counted(static_cast<std::uint64_t>(result.ids_without_text), "id"));
  fmt::print("{}: {}{}\n", folder.string(), counted(result.samples, "sample"), losses);
}

void trace_run(TraceOptions options) {
  Stopwatch clock;
  options.flags.request.final_row = !options.no_final;
  options.flags.request.plan();  // refused before anything is read
  const bool several = wants_processes(options.shards, options.model.device);
  if (several && options.source.data == "-")
    throw_usage_error({"--data", "a file: every process reads the questions", "standard input"});
  auto request = read_prompt_request(options.source, options.flags);
  say_how_samples_go_on();
  if (several) return run_processes(options.shards, options.model.device, {"trace", options.out});
  const auto sharding = place_in_run(options.shards, {"trace", options.out});
  auto loaded = load_model_for(options.source, options.model, request);
  request.folder = options.out;
  request.resume = options.resume;
  request.ignore_space = options.ignore_space;
  request.command = command_as_typed();
  auto run = run::make_trace_run(request, loaded);
  run.sharding = sharding;
  clock.lap("loading");
  ThreadPool threads(thread_count(options.model));
  RunProgress progress(sharding, "sample");
  run::TraceRunResult result;
  progress.run([&] {
    result = run::run_trace(
        {threads}, loaded, run,
        {.begin =
             [&](const auto& bytes) {
               announce_bytes(bytes, request.folder);
               progress.begin(request.items.size());
             },
         .step = [&] { progress.step(); },
         .part = [&](std::size_t samples, std::size_t before) { progress.begin(samples, before); }});
    if (!result.failed.empty()) progress.failed(result.failed.size(), result.failed.back().error);
  });
  clock.lap("decoding and writing");
  if (options.timing) say("{}\n", clock.describe());
  for (const auto& [analysis, reason] : result.left_out) say("note: {} is left out: {}\n", analysis, reason);
  if (request.keep != trace::Level::kFull) {
    for (const auto& [analysis, reason] : run::analyses_beyond(request.plan()))
      say("note: {} is left out: {}\n", analysis, reason);
  }
  report_result(result, sharding ? sharding->folder() : request.folder);
}

}  // namespace

void add_trace(Command& app) {
  auto* command = app.add_subcommand("trace", "decode and store what attention did, step by step");
  auto options = std::make_shared<TraceOptions>();
  options->flags.request.observe = "received,entropy";
  add_model_options(*command, options->model);
  add_prompt_source(*command, options->source, options->flags);
  add_out_option(*command, options->out)->required();
  add_observe_option(*command, options->flags.request.observe);
  const auto* predicted = add_observed_part_options(*command, options->flags.request, options->no_final);
  add_keep_option(*command, options->flags.keep);
  const auto* compact = add_compact_samples_option(*command, options->flags.request.compact_samples);
  add_ignore_space_flag(*command, options->ignore_space);
  add_resume_flag(*command, options->resume);
  add_timing_flag(*command, options->timing);
  add_shard_options(*command, options->shards);
  add_decode_options(*command, options->flags.request.decode);
  add_change_options(*command, options->flags.changes);
  command->footer(
      in_flags_of(*command, observe::describe_observables()) +
      "\nThe trace is described in docs/trace-format.md; python/buoy/trace.py reads it with numpy.");
  command->examples({
      {"buoy trace --model models/natural-diffusion --prompt \"Who employs Klados Hebwick?\" "
       "--max-new-tokens 8 "
       "--observe all --out traces/klados",
       ""},
      {"buoy trace --model models/planted-autoregressive --data questions.jsonl --template "
       "models/planted.prompt "
       "--max-new-tokens 12 --groups regions --out traces/autoregressive",
       ""},
  });
  command->callback([options, compact, predicted] {
    require_predictions(*predicted, options->flags.request.observe);
    require_compact(*compact, read_request(options->flags).keep);
    trace_run(*options);
  });
}

}  // namespace buoy::app
