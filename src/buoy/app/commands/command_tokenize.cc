#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>

#include "buoy/app/commands/commands.h"
#include "buoy/app/options/model_folder.h"
#include "buoy/app/options/prompt_options.h"
#include "buoy/base/error.h"
#include "buoy/base/file/json_file.h"
#include "buoy/checkpoint/hub_cache.h"

namespace buoy::app {
namespace {

void tokenize(const std::string& name, const PromptOptions& options) {
  if (options.text.empty() && options.file.empty()) {
    throw_usage_error({"tokenize", "--prompt or --file", "an empty text"});
  }
  const auto folder = find_model(name);
  const auto tokenizer = text::Tokenizer::load(folder);
  const auto prompt = make_prompt(options, folder, tokenizer);
  Json out = {{"ids", prompt.ids}, {"tokens", Json::array()}, {"spans", Json::array()}};
  for (size_t i = 0; i < prompt.ids.size(); ++i) {
    out["tokens"].push_back(tokenizer.token_text(prompt.ids[i]));
    out["spans"].push_back({prompt.spans[i].begin, prompt.spans[i].end});
  }
  fmt::print("{}\n", dump_json(out));
}

}  // namespace

void add_tokenize(Command& app) {
  auto* command = app.add_subcommand("tokenize", "turn text into token ids");
  auto folder = std::make_shared<std::string>();
  auto options = std::make_shared<PromptOptions>();
  add_model_option(*command, *folder)->required();
  add_prompt_options(*command, *options)->alias("--text");
  command->footer(
      "Turn text into token ids, as the model's own tokenizer does it. Prints one line of JSON: ids, the "
      "text of\n"
      "each token, and its byte span in the text (in a chat template: in the rendered conversation).");
  command->examples(
      {{"buoy tokenize --model models/natural-diffusion --prompt \"Who employs Klados Hebwick?\"", ""},
       {"echo \"Who employs Klados Hebwick?\" | buoy tokenize --model models/natural-diffusion --file -",
        "from a pipe"}});
  command->callback([folder, options] { tokenize(*folder, *options); });
}

}  // namespace buoy::app
