#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <memory>

#include "buoy/app/command_line.h"
#include "buoy/app/commands/commands.h"
#include "buoy/app/options/decode_options.h"
#include "buoy/app/options/model_folder.h"
#include "buoy/app/options/prompt_options.h"
#include "buoy/app/options/request_flags.h"
#include "buoy/app/options/shared_options.h"
#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"
#include "buoy/base/progress.h"
#include "buoy/base/say.h"
#include "buoy/base/sha256.h"
#include "buoy/checkpoint/hub_cache.h"
#include "buoy/questions/data/item_reader.h"
#include "buoy/report/result_files.h"
#include "buoy/run/identity.h"
#include "buoy/run/score/score_run.h"

namespace buoy::app {
namespace {

struct ScoreCall {
  ModelOptions model;
  RequestFlags flags;
  std::string data, form, order, out;
  std::int64_t slots = 0;
  bool leave_out = false, texts = false, json = false;
};

run::ScoreRequest read_score_request(const ScoreCall& call) {
  auto flags = call.flags;
  flags.request.read.require_answers = !call.texts;
  run::ScoreRequest request;
  static_cast<run::Request&>(request) = read_request(flags);
  if (!call.form.empty()) request.score.form = run::score_form_of(call.form);
  request.score.order = run::path_order_of(call.order);
  if (!call.order.empty() && request.score.form != run::ScoreForm::kPath)
    throw_usage_error({"--path-order", "--form path with it", call.form.empty() ? "no --form" : call.form});
  request.score.slots = call.slots;
  request.score.decode = request.decode;
  request.leave_out = call.leave_out;
  request.texts = call.texts;
  return request;
}

// Results are complete where the description is: it goes first and comes last.
void write(const std::vector<Table>& tables, const nlohmann::json& description,
           const std::filesystem::path& folder) {
  const auto file = folder / "score.json";
  std::filesystem::remove(file);
  report::replace_tables("score", tables, folder);
  write_file_atomically(file, dump_json(description, 2) + '\n');
}

// A line shows where a long text begins; files hold all of it.
Table with_short_texts(Table table) {
  constexpr std::size_t kLongest = 60;
  for (auto& row : table.rows) {
    for (auto& cell : row) {
      auto* text = std::get_if<std::string>(&cell);
      if (text != nullptr && text->size() > kLongest) {
        std::size_t end = kLongest;
        while (end > 0 && (static_cast<unsigned char>((*text)[end]) & 0xC0) == 0x80)
          --end;  // whole characters
        *text = text->substr(0, end) + "...";
      }
    }
  }
  return table;
}

void score(const ScoreCall& call) {
  auto request = read_score_request(call);
  const auto folder = find_model(call.model.folder);
  run::check_score(request, read_config(folder));
  request.items = questions::read_items(call.data, request.read);
  const std::string data_sum = call.data == "-" ? "" : sha256_of_file(call.data);
  request.chat = settle_chat(call.flags.chat, folder);
  auto loaded = load_model(call.model);
  request.device = loaded.model.device();
  ThreadPool threads(thread_count(call.model));
  Progress progress(stderr, "question", static_cast<std::int64_t>(request.items.size()));
  const auto items = run::score_items({threads}, loaded, request, [&] { progress.advance(); });
  std::size_t failed = 0;
  std::string first;
  for (const auto& item : items) {
    if (item.error.empty()) continue;
    if (failed++ == 0) first = item.error;
    say("{}: {}\n", item.id, item.error);
  }
  if (failed == items.size()) throw InputError("every question failed, the first with: " + first);
  const auto tables = run::score_tables(items, request, loaded);
  if (!call.out.empty())
    write(tables, run::describe_score(request, loaded.model, data_sum, command_as_typed()), call.out);
  for (const auto& table : tables) {
    if (call.json) {
      fmt::print("{}\n", to_json(table));
    } else if (call.out.empty() || &table == &tables.front()) {
      fmt::print("{}{}", &table == &tables.front() ? "" : "\n", to_text(with_short_texts(table)));
    }
  }
}

}  // namespace

void add_score(Command& app) {
  auto* command = app.add_subcommand("score", "log-probabilities of given answers and texts");
  auto call = std::make_shared<ScoreCall>();
  add_model_options(*command, call->model);
  add_data_option(*command, call->data)->required();
  call->flags.fields = add_field_option(*command);
  add_limit_option(*command, call->flags.limit);
  add_template_option(*command, call->flags.request.prompt_template);
  add_passages_option(*command, call->flags.request.arrangement.passages);
  add_gold_position_option(*command, call->flags.request.arrangement.gold_position);
  add_chat_options(*command, call->flags.chat);
  command
      ->add_option(
          "--form", call->form,
          "masked diffusion, required: one-shot (all positions of the answer masked, every token at\n"
          "once) or path (each token when it is revealed, given those revealed before)")
      ->type_name("FORM");
  command
      ->add_option("--path-order", call->order,
                   "of --form path: left-to-right (default) or decoding (the order of the decoding rule)")
      ->type_name("ORDER");
  command
      ->add_option("--slots", call->slots,
                   "masked diffusion: positions of the canvas (default: as many as the answer has tokens)")
      ->positive();
  command->add_flag("--leave-out", call->leave_out,
                    "also without each passage in turn: what it adds to the first answer");
  command->add_flag("--texts", call->texts,
                    "score the prompts themselves, all but their first token: their perplexity");
  add_out_option(*command, call->out);
  add_json_flag(*command, call->json);
  add_decode_options(*command, call->flags.request.decode);
  command->footer(
      "Log-probabilities are natural. --data holds questions with passages, or lines of\n"
      "{\"prompt\": ..., \"answers\": [...]}. A space is put before an answer where neither prompt nor "
      "answer has "
      "one.\n"
      "A model of next tokens has one log-probability of an answer; a masked-diffusion model has several, "
      "so\n"
      "--form says which. Tables go to the terminal, or with --out to files (docs/tables.md, score_...).");
  command->examples({
      {"buoy score --model models/planted-autoregressive --data questions.jsonl --template "
       "models/planted.prompt --leave-out",
       "which passage the answer rests on"},
      {"buoy score --model models/planted-diffusion --data questions.jsonl --template models/planted.prompt "
       "--form path --path-order decoding --out scores",
       ""},
  });
  const auto* tokens = command->get_option("--max-new-tokens");
  command->callback([call, tokens] {
    if (tokens->given())
      throw_usage_error({tokens->name(), "--slots: nothing is generated but what is given", "it"});
    score(*call);
  });
}

}  // namespace buoy::app
