#include <fmt/format.h>

#include <memory>
#include <optional>

#include "buoy/app/command_line.h"
#include "buoy/app/commands/announce.h"
#include "buoy/app/commands/commands.h"
#include "buoy/app/options/analysis_options.h"
#include "buoy/app/options/model_folder.h"
#include "buoy/app/options/shared_options.h"
#include "buoy/base/counted.h"
#include "buoy/base/interrupt.h"
#include "buoy/base/progress.h"
#include "buoy/base/say.h"
#include "buoy/run/live/compact_trace.h"

namespace buoy::app {
namespace {

struct CompactOptions {
  run::CompactRequest request;
  std::string trace, out, keep;
  int threads = 0;
  bool trust = false;
};

void compact(CompactOptions options) {
  auto& request = options.request;
  request.trace = options.trace;
  request.out = options.out;
  request.command = command_as_typed();
  if (options.trust) request.integrity = trace::Integrity::kSizeOnly;
  ThreadPool threads(options.threads > 0 ? options.threads : available_threads());
  say_when_interrupted("buoy: interrupted; remove the unfinished folder, then run the same command again\n");
  std::optional<Progress> bar;
  const auto result =
      run::compact_trace(request, threads,
                         {.begin =
                              [&](const auto& bytes) {
                                announce_bytes(bytes, request.out);
                                bar.emplace(stderr, "sample", static_cast<std::int64_t>(bytes.samples));
                              },
                          .step = [&] { bar->advance(); }});
  bar.reset();
  for (const auto& [analysis, reason] : result.left_out) say("note: {} is left out: {}\n", analysis, reason);
  fmt::print("{}: {}{}\n", options.out, counted(result.samples, "sample"),
             result.failed > 0 ? fmt::format(", {} failed when traced", result.failed) : "");
}

}  // namespace

void add_compact(Command& app) {
  auto* command = app.add_subcommand("compact", "make a smaller trace of a full one");
  auto options = std::make_shared<CompactOptions>();
  command->add_option("trace", options->trace, "folder of a full trace")->required()->type_name("TRACE");
  add_out_option(*command, options->out)->required();
  add_keep_option(*command, options->keep);
  const auto* samples = add_compact_samples_option(*command, options->request.compact_samples);
  add_state_settings(*command, options->request.options);
  add_ignore_space_flag(*command, options->request.ignore_space);
  add_threads_option(*command, options->threads);
  add_trust_flag(*command, options->trust);
  command->footer(
      "Tables and figures of the new trace are those of the full one, and the explorer shows values within "
      "2.3% of its.\n"
      "Settings of analyses are chosen here: the states that are kept depend on them.\n"
      "There is no --resume: everything is made again from the full trace, without the model. An interrupted "
      "run leaves a folder that is marked as unfinished: remove it and run the command again.");
  command->examples({{"buoy compact traces/llada --out traces/llada-compact", ""},
                     {"buoy compact traces/llada --keep tables --out traces/llada-tables", ""}});
  command->callback([options, samples] {
    if (!options->keep.empty()) options->request.keep = trace::level_from_name(options->keep);
    require_compact(*samples, options->request.keep);
    compact(*options);
  });
}

}  // namespace buoy::app
