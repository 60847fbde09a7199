#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>

#include "buoy/app/commands/commands.h"
#include "buoy/app/options/model_folder.h"
#include "buoy/app/options/prompt_options.h"
#include "buoy/app/options/shared_options.h"
#include "buoy/base/file/files.h"
#include "buoy/checkpoint/hub_cache.h"
#include "buoy/run/ask/prompt_tokens.h"
#include "buoy/world/haystack.h"

namespace buoy::app {
namespace {

struct HaystackCall {
  world::HaystackRequest request;
  std::string model, filler, out;
  ChatOptions chat;
};

void write_haystacks(HaystackCall call) {
  world::check_haystack(call.request);
  const auto folder = find_model(call.model);
  if (!call.filler.empty()) call.request.filler = read_file(call.filler);
  const auto count = run::prompt_token_counter(folder, settle_chat(call.chat, folder));
  std::string lines;
  for (const auto& haystack : world::make_haystacks(call.request, count))
    lines += world::haystack_line(haystack) + '\n';
  if (call.out.empty()) {
    fmt::print("{}", lines);
  } else {
    write_file_atomically(call.out, lines);
  }
}

}  // namespace

void add_haystack(Command& app) {
  auto* command = app.add_subcommand(
      "haystack", "questions whose evidence lies at a known depth of a prompt of known length");
  auto call = std::make_shared<HaystackCall>();
  auto& request = call->request;
  add_model_option(*command, call->model)->required();
  command
      ->add_option(
          "--kind", request.kind,
          "needle (default): a fact about somebody made up; key-values: a pair of random identifiers\n"
          "among many")
      ->one_of(world::haystack_kinds());
  command
      ->add_option("--lengths", request.lengths,
                   "tokens of the prompt, at most, counted by the model's tokenizer, as in 1024,2048")
      ->delimiter(',')
      ->required();
  command
      ->add_option("--depths", request.depths,
                   "percent of the filler before the needle (default 0,25,50,75,100)")
      ->delimiter(',');
  command->add_option("--per-cell", request.per_cell, "questions of every length and depth (default 10)")
      ->positive();
  command
      ->add_option(
          "--needles", request.needles,
          "needles that it takes to answer (default 1); 2 facts are a question in two hops, up to 16\n"
          "pairs are asked at once")
      ->positive();
  add_world_version_option(*command, request.version);
  command
      ->add_option("--filler", call->filler,
                   "with needle: a text whose sentences are the filler (default: passages about others)")
      ->type_name("FILE");
  command->add_option("--instruction", request.instruction,
                      "a line before all else (default: none; of key-values the usual one)");
  add_seed_option(*command, request.seed);
  add_chat_options(*command, call->chat);
  add_out_option(*command, call->out);
  command->footer(
      "Prints questions with ready prompts (docs/data-formats.md) unless --out names a file. Ask them with\n"
      "`buoy eval --template ready`; its table eval_haystack is accuracy by length and depth.");
  command->examples(
      {{"buoy haystack --model models/natural-diffusion --version 2 --lengths 128,256 --per-cell 1", ""},
       {"buoy haystack --model models/natural-diffusion --kind key-values --lengths 512 --depths 50 "
        "--per-cell 1",
        ""}});
  command->callback([call] { write_haystacks(*call); });
}

}  // namespace buoy::app
