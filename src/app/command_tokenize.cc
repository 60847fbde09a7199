#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>

#include "app/commands.h"
#include "app/model_folder.h"
#include "base/error.h"
#include "base/json_file.h"
#include "checkpoint/hub_cache.h"

namespace buoy::app {
namespace {

void tokenize(const std::string& name, const PromptOptions& options) {
  if (options.text.empty() && options.file.empty()) {
    throw_usage_error({"tokenize", "--text or --file", "an empty text"});
  }
  const auto folder = find_model(name);
  const auto tokenizer = text::Tokenizer::load(folder);
  const auto prompt = make_prompt(options, folder, tokenizer);
  Json out = {{"ids", prompt.ids}, {"tokens", Json::array()}, {"spans", Json::array()}};
  for (size_t i = 0; i < prompt.ids.size(); ++i) {
    out["tokens"].push_back(tokenizer.token_text(prompt.ids[i]));
    out["spans"].push_back({prompt.spans[i].begin, prompt.spans[i].end});
  }
  fmt::print("{}\n", out.dump());
}

}  // namespace

void add_tokenize(Command& app) {
  auto* command = app.add_subcommand("tokenize", "turn text into token ids");
  auto folder = std::make_shared<std::string>();
  auto options = std::make_shared<PromptOptions>();
  command->add_option("--model", *folder, "folder with the tokenizer, or id of its model")
      ->required()
      ->type_name("MODEL");
  add_prompt_options(*command, *options, "--text");
  command->footer(
      "Turn text into token ids, as the model's own tokenizer does it. Prints one line of JSON: ids, the "
      "text of\n"
      "each token, and its byte span in the text (with --chat: in the rendered conversation)."
      "\n\n"
      "Example: buoy tokenize --model LLaDA-8B-Instruct --text \"What is 2+2?\" --chat");
  command->callback([folder, options] { tokenize(*folder, *options); });
}

}  // namespace buoy::app
