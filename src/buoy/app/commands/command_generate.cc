#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <optional>

#include "buoy/app/commands/canvas.h"
#include "buoy/app/commands/commands.h"
#include "buoy/app/options/change_options.h"
#include "buoy/app/options/decode_options.h"
#include "buoy/app/options/model_folder.h"
#include "buoy/app/options/prompt_options.h"
#include "buoy/app/options/shared_options.h"
#include "buoy/base/error.h"
#include "buoy/base/file/json_file.h"
#include "buoy/base/progress.h"
#include "buoy/base/say.h"
#include "buoy/checkpoint/hub_cache.h"
#include "buoy/decode/drive.h"
#include "buoy/run/change/changing_probe.h"
#include "buoy/run/decoding.h"

namespace buoy::app {
namespace {

struct GenerateOptions {
  ModelOptions model;
  PromptOptions prompt;
  DecodeOptions decode;
  ChangeOptions changes;
  bool json = false;
  bool no_canvas = false;
};

void run(const Context& context, model::Model& model, decode::StepMachine& machine,
         const GenerateOptions& options, const std::optional<text::Tokenizer>& tokenizer,
         probe::Probe* change) {
  decode::StepMachine* machines[] = {&machine};
  if (!options.json && !options.no_canvas && Canvas::possible()) {
    Canvas canvas(tokenizer,
                  options.decode.mask_token ? options.decode.mask_token : model.config().mask_token);
    decode::drive(
        context, model, machines,
        [&](size_t, const decode::StepMachine& m, const decode::StepRecord& r) { canvas.draw(m, r); },
        change);
  } else {
    std::optional<Progress> progress;
    decode::drive(
        context, model, machines,
        [&](size_t, const decode::StepMachine&, const decode::StepRecord& r) {
          if (!progress) progress.emplace(stderr, "step", r.steps);
          progress->advance();
        },
        change);
  }
}

void generate(const GenerateOptions& options) {
  const auto changes = parse_changes(options.changes);
  run::check_decoding(read_config(find_model(options.model.folder)), options.decode);
  auto [model, tokenizer] = load_model(options.model);
  const auto prompt = make_prompt(options.prompt, model.checkpoint().folder(), tokenizer);
  const auto machine = run::make_machine(model, options.decode, prompt.ids, tokenizer);
  const std::int64_t length = static_cast<std::int64_t>(prompt.ids.size()) + options.decode.max_new_tokens;
  if (length > model.config().context) {
    say("buoy: warning: {} tokens of prompt and answer, but the model was made for {}\n", length,
        model.config().context);
  }

  run::ChangingProbe changing(changes, model.config(),
                              {{}, length, options.decode.steps.value_or(options.decode.max_new_tokens)},
                              nullptr);
  ThreadPool threads(thread_count(options.model));
  run({threads}, model, *machine, options, tokenizer, changes.any() ? &changing : nullptr);

  const auto ids = machine->generated();
  const std::optional<std::string> text =
      tokenizer ? std::optional(
                      run::answer_text(*tokenizer, ids, run::end_tokens(model, options.decode, tokenizer)))
                : std::nullopt;
  if (options.json) {
    const std::span revealed =
        std::span(machine->revealed_at()).subspan(static_cast<size_t>(machine->prompt_length()));
    const Json out = {
        {"ids", std::vector(ids.begin(), ids.end())},
        {"text", text ? Json(*text) : Json(nullptr)},
        {"ids_without_text", tokenizer ? Json(tokenizer->count_without_token(ids)) : Json(nullptr)},
        {"revealed_at", std::vector(revealed.begin(), revealed.end())}};
    fmt::print("{}\n", dump_json(out));
  } else if (text) {
    fmt::print("{}\n", *text);
  } else {
    for (size_t i = 0; i < ids.size(); ++i) fmt::print("{}{}", i == 0 ? "" : ",", ids[i]);
    fmt::print("\n");
  }
}

}  // namespace

void add_generate(Command& app) {
  auto* command = app.add_subcommand("generate", "let a model write, and watch it");
  auto options = std::make_shared<GenerateOptions>();
  add_model_options(*command, options->model);
  add_prompt_options(*command, options->prompt);
  add_ids_option(*command, options->prompt);
  add_decode_options(*command, options->decode);
  add_change_options(*command, options->changes);
  add_json_flag(*command, options->json);
  command->add_flag("--no-canvas", options->no_canvas, "no live view");
  command->footer(
      "Let a model write. On a terminal the answer fills in as it is decoded: a diffusion model reveals "
      "positions\n"
      "in any order, an autoregressive one from left to right. --json prints one line with ids, text and the "
      "step\n"
      "at which each position was revealed (-1: never).");
  command->examples({
      {"printf 'Question: Who employs Klados Hebwick?\\nAnswer:' | buoy generate --model "
       "models/pair-diffusion --file - --max-new-tokens 8",
       "the bundled diffusion model"},
      {"buoy generate --model LLaDA-8B-Instruct --prompt \"What is 2+2?\" --max-new-tokens 64 --block-length "
       "32",
       ""},
      {"buoy generate --model Dream-v0-Instruct-7B --prompt Hello --algorithm entropy --temperature 0.2 "
       "--top-p 0.95",
       ""},
      {"buoy generate --model Llama-3.1-8B-Instruct --prompt Hello --temperature 0.7 --seed 1 --json", ""},
  });
  command->callback([options] { generate(*options); });
}

}  // namespace buoy::app
