#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/decode_options.h"
#include "app/prompt_source.h"
#include "base/error.h"
#include "base/json_file.h"
#include "base/progress.h"
#include "experiment/identity.h"
#include "experiment/trace_run.h"

namespace buoy::app {
namespace {

struct TraceOptions {
  ModelOptions model;
  PromptSource source;
  experiment::TracerOptions tracer;
  std::string out, observe = "received,entropy", layers, steps;
  bool resume = false, float16 = false, no_final = false;
};

std::string describe_probe(const TraceOptions& options) {
  const PromptSource& source = options.source;
  return Json({{"observe", options.tracer.plan.names()},
               {"layers", options.layers},
               {"steps", options.steps},
               {"groups", options.tracer.groups.empty() ? "state" : options.tracer.groups},
               {"final_row", options.tracer.final_row},
               {"template", source.prompt_template},
               {"passages", source.passages},
               {"gold_position", source.gold_position},
               {"chat", source.prompt.chat.use}})
      .dump();
}

// What the run will write, said before it begins.
void announce(const observe::Recorder::Bytes& each, size_t samples, bool float16) {
  const std::uint64_t divisor = float16 ? 2 : 1;
  std::string text = fmt::format("{} sample{}, about {} each", samples, samples == 1 ? "" : "s",
                                 describe_bytes(each.all / divisor));
  if (samples > 1) text += fmt::format(", {} in all", describe_bytes(each.all / divisor * samples));
  if (each.large > 0)
    text += fmt::format("; of each, {} are dense matrices and states", describe_bytes(each.large / divisor));
  fmt::print(stderr, "{}\n", text);
}

void trace_run(TraceOptions options) {
  options.tracer.plan = observe::parse_plan(options.observe, options.layers, options.steps);
  options.tracer.final_row = !options.no_final;
  const auto items = read_prompt_items(options.source);
  auto loaded = load_model(options.model);

  trace::Manifest manifest =
      experiment::describe_run(loaded.model, options.tracer.decode, command_as_typed());
  manifest.storage = options.float16 ? trace::Storage::kF16 : trace::Storage::kF32;
  manifest.probe = describe_probe(options);
  for (const auto& item : items) manifest.sample_ids.push_back(item.id);

  const PromptOptions& given = options.source.prompt;
  std::optional<experiment::Prompter> prompter;
  if (given.ids.empty())
    prompter.emplace(options.source.prompt_template, given.chat, options.model.folder,
                     experiment::need_tokenizer(loaded.tokenizer, options.model.folder));
  experiment::TraceRun run{options.out, manifest, options.tracer, {}, options.resume};
  run.prompt = [&](size_t n) {
    const auto item = arranged(items[n], options.source);
    return prompter
               ? prompter->prompt(item)
               : experiment::prompt_of_ids(item, make_prompt(given, options.model.folder, loaded.tokenizer));
  };
  ThreadPool threads(thread_count(options.model));
  std::optional<Progress> bar;
  const auto result =
      experiment::run_trace({threads}, loaded, run,
                            {.begin =
                                 [&](const auto& each) {
                                   announce(each, items.size(), options.float16);
                                   bar.emplace(stderr, "sample", static_cast<std::int64_t>(items.size()));
                                 },
                             .step = [&] { bar->advance(); }});
  bar.reset();
  fmt::print("{}: {} samples{}\n", options.out, result.samples,
             result.failed > 0 ? fmt::format(", {} failed (listed in manifest.json)", result.failed) : "");
}

}  // namespace

void add_trace(CLI::App& app) {
  auto* command = app.add_subcommand("trace", "decode and store what attention did, step by step");
  auto options = std::make_shared<TraceOptions>();
  add_model_options(*command, options->model);
  add_prompt_source(*command, options->source);
  command->add_option("--out", options->out, "folder of the trace")->required()->type_name("DIR");
  command->add_option("--observe", options->observe, "what to observe (default: received,entropy)");
  command->add_option("--layers", options->layers, "only these layers, as in 0-3,31");
  command->add_option("--steps-observed", options->steps, "only these denoising steps, as in 0,8,16-31");
  command->add_option("--groups", options->tracer.groups,
                      "query groups: state (default), regions, parity, or a list as in bos=0;question=1-20");
  command->add_flag("--no-final", options->no_final,
                    "masked diffusion: no last forward over the fully revealed row");
  command->add_flag("--float16", options->float16, "store in half the space");
  command->add_flag("--resume", options->resume, "continue a run that was interrupted");
  add_decode_options(*command, options->tracer.decode);
  command->footer(
      observe::describe_observables() +
      "\nThe trace is described in docs/trace-format.md; python/buoy_trace.py reads it with numpy.\n"
      "Example: buoy trace --model DIR --prompt \"Hello\" --max-new-tokens 32 --observe all --out "
      "traces/hello");
  command->callback([options] { trace_run(*options); });
}

}  // namespace buoy::app
