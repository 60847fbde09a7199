#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <optional>

#include "buoy/app/commands/canvas.h"
#include "buoy/app/commands/commands.h"
#include "buoy/app/options/change_options.h"
#include "buoy/app/options/decode_options.h"
#include "buoy/app/options/model_folder.h"
#include "buoy/app/options/prompt_source.h"
#include "buoy/app/options/shared_options.h"
#include "buoy/base/error.h"
#include "buoy/base/file/json_file.h"
#include "buoy/base/progress.h"
#include "buoy/base/say.h"
#include "buoy/base/stopwatch.h"
#include "buoy/decode/decoding_rule.h"
#include "buoy/decode/drive.h"
#include "buoy/run/change/changing_probe.h"
#include "buoy/run/decoding.h"
#include "buoy/run/trace_request.h"

namespace buoy::app {
namespace {

struct GenerateOptions {
  ModelOptions model;
  PromptSource source;
  RequestFlags flags;
  bool json = false, no_canvas = false, timing = false;

  const DecodeOptions& decode() const { return flags.request.decode; }
};

class Generation {
 public:
  Generation(const GenerateOptions& options, run::TraceRequest request, run::LoadedModel loaded)
      : options_(options),
        request_(std::move(request)),
        loaded_(std::move(loaded)),
        prompts_(run::prompts_of(request_, loaded_)),
        threads_(thread_count(options.model)) {}

  void go() {
    const std::size_t count = request_.items.size();
    std::size_t failed = 0;
    std::string first;
    std::optional<Progress> bar;
    if (count > 1) bar.emplace(stderr, "prompt", static_cast<std::int64_t>(count));
    for (std::size_t n = 0; n < count; ++n) {
      const auto fail = [&](const Error& error) {
        if (count == 1) throw;
        if (failed++ == 0) first = error.what();
        say("{}: {}\n", request_.items[n].id, error.what());
      };
      try {
        write(prompts_(n), n);
      } catch (const UsageError& error) {
        fail(error);
      } catch (const InputError& error) {
        fail(error);
      }
      if (bar) bar->advance();
    }
    if (failed == count) throw InputError("every prompt failed, the first with: " + first);
  }

 private:
  // Every prompt has its own random numbers, as in `buoy trace`.
  void write(const run::ItemPrompt& prompt, std::size_t number) {
    const auto& decode = options_.decode();
    auto own = decode;
    own.seed += number;
    const auto machine = run::make_machine(loaded_.model, own, prompt.prompt.ids, loaded_.tokenizer);
    const std::int64_t length = std::ssize(prompt.prompt.ids) + decode.max_new_tokens;
    if (length > loaded_.model.config().context) {
      say("buoy: warning: {} tokens of prompt and answer, but the model was made for {}\n", length,
          loaded_.model.config().context);
    }
    const auto& config = loaded_.model.config();
    run::ChangingProbe changing(request_.changes, config,
                                {.regions = {},
                                 .tokens = length,
                                 .steps = run::most_forwards(config, decode),
                                 .decode = decode,
                                 .id = prompt.id,
                                 .prompt = prompt.prompt.ids,
                                 .seed = own.seed,
                                 .left_to_right = !decode::decodes_masks(config, decode)},
                                nullptr);
    decode_one(*machine, request_.changes.any() ? &changing : nullptr);
    changing.finish();
    print(prompt, *machine);
  }

  void decode_one(decode::StepMachine& machine, probe::Probe* change) {
    decode::StepMachine* machines[] = {&machine};
    const Context context{threads_};
    const auto& decode = options_.decode();
    const bool alone = request_.items.size() == 1;
    if (alone && !options_.json && !options_.no_canvas && Canvas::possible()) {
      Canvas canvas(loaded_.tokenizer,
                    decode.mask_token ? decode.mask_token : loaded_.model.config().mask_token);
      decode::drive(
          context, loaded_.model, machines,
          [&](size_t, const decode::StepMachine& m, const decode::StepRecord& r) { canvas.draw(m, r); },
          change);
      return;
    }
    std::optional<Progress> progress;
    decode::drive(
        context, loaded_.model, machines,
        [&](size_t, const decode::StepMachine&, const decode::StepRecord& r) {
          if (!alone || r.kind != decode::StepKind::kDenoise) return;
          if (!progress) progress.emplace(stderr, "step", r.steps);
          progress->advance();
        },
        change);
  }

  void print(const run::ItemPrompt& prompt, const decode::StepMachine& machine) const {
    const auto ids = machine.generated();
    const auto& tokenizer = loaded_.tokenizer;
    const std::optional<std::string> text =
        tokenizer
            ? std::optional(run::answer_text(
                  *tokenizer, ids, run::end_tokens(loaded_.model.config(), options_.decode(), tokenizer)))
            : std::nullopt;
    if (options_.json) {
      const std::span revealed =
          std::span(machine.revealed_at()).subspan(static_cast<size_t>(machine.prompt_length()), ids.size());
      Json out = {{"ids", std::vector(ids.begin(), ids.end())},
                  {"text", text ? Json(*text) : Json(nullptr)},
                  {"ids_without_text", tokenizer ? Json(tokenizer->count_without_token(ids)) : Json(nullptr)},
                  {"revealed_at", std::vector(revealed.begin(), revealed.end())}};
      if (!options_.source.data.empty()) out["id"] = prompt.id;
      fmt::print("{}\n", dump_json(out));
      return;
    }
    if (!options_.source.data.empty()) fmt::print("{}: ", prompt.id);
    if (text) {
      fmt::print("{}\n", *text);
      return;
    }
    fmt::print("{}\n", fmt::join(ids, ","));
  }

  const GenerateOptions& options_;
  run::TraceRequest request_;
  run::LoadedModel loaded_;
  std::function<run::ItemPrompt(std::size_t)> prompts_;
  ThreadPool threads_;
};

void generate(const GenerateOptions& options) {
  Stopwatch clock;
  auto request = read_prompt_request(options.source, options.flags);
  auto loaded = load_model_for(options.source, options.model, request);
  Generation generation(options, std::move(request), std::move(loaded));
  clock.lap("loading");
  generation.go();
  clock.lap("decoding");
  if (options.timing) say("{}\n", clock.describe());
}

}  // namespace

void add_generate(Command& app) {
  auto* command = app.add_subcommand("generate", "let a model write, and watch it");
  auto options = std::make_shared<GenerateOptions>();
  add_model_options(*command, options->model);
  add_prompt_source(*command, options->source, options->flags);
  add_decode_options(*command, options->flags.request.decode);
  add_change_options(*command, options->flags.changes);
  add_json_flag(*command, options->json);
  command->add_flag("--no-canvas", options->no_canvas, "no live view");
  add_timing_flag(*command, options->timing);
  command->footer(
      "Let a model write. On a terminal the answer fills in as it is decoded: a diffusion model reveals "
      "positions\n"
      "in any order, an autoregressive one from left to right. --json prints one line with ids, text and the "
      "step\n"
      "at which each position was revealed (-1: never). --data answers many prompts, one after the other, a "
      "line each.");
  command->examples({
      {"printf 'Question: Who employs Klados Hebwick?\\nAnswer:' | buoy generate --model "
       "models/natural-diffusion --file - --max-new-tokens 8",
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
