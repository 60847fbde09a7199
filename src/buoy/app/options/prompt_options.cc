#include "buoy/app/options/prompt_options.h"

#include <fmt/format.h>

#include <charconv>

#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "buoy/base/say.h"
#include "buoy/run/loaded_model.h"

namespace buoy::app {
namespace {

constexpr const char* kStandardInput = "-";

// Editors and echo end a file with a line end that nobody meant as part of the prompt.
std::string without_last_line_end(std::string text) {
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  return text;
}

// Ids need no tokenizer, but a folder that has one seems to promise text.
void note_unused_tokenizer(const std::filesystem::path& folder) {
  try {
    run::load_tokenizer(folder, read_config(folder));
  } catch (const InputError& error) {
    say("note: without text, for the tokenizer is not supported: {}\n", error.what());
  }
}

}  // namespace

void add_chat_options(Command& command, ChatOptions& options, const std::string& group) {
  auto* chat =
      command
          .add_flag("--chat", options.chat,
                    "demand the model's chat template (default: used where the folder has a known one)")
          ->group(group);
  auto* no_chat = command.add_flag("--no-chat", options.no_chat, "never use the chat template")
                      ->excludes(chat)
                      ->group(group);
  command.add_option("--system", options.choice.system, "system message; demands the chat template")
      ->excludes(no_chat)
      ->group(group);
  command
      .add_option("--chat-style", options.choice.style,
                  "style written by hand instead of the folder's template (docs/chat-templates.md)")
      ->type_name("NAME")
      ->excludes(no_chat)
      ->group(group);
  command
      .add_flag("--no-thinking", options.choice.no_thinking,
                "tell the template not to think (enable_thinking)")
      ->excludes(no_chat)
      ->group(group);
  command.add_option("--chat-date", options.choice.date, "day that templates are told (default: 2024-07-26)")
      ->type_name("YYYY-MM-DD")
      ->excludes(no_chat)
      ->group(group);
}

run::ChatUse chat_use(const ChatOptions& options) {
  return options.chat      ? run::ChatUse::kAlways
         : options.no_chat ? run::ChatUse::kNever
                           : run::ChatUse::kWhenThereIsOne;
}

run::ChatChoice settle_chat(const ChatOptions& options, const std::filesystem::path& folder) {
  const auto choice = run::settle(chat_use(options), options.choice, folder);
  if (choice.use && !options.chat)
    say("note: the prompt is a user's message in the chat template of {} (--no-chat: as it is)\n",
        folder.string());
  if (!choice.use && !options.no_chat && run::has_chat_template(folder))
    say("note: the prompt goes in as it is: {}\n", run::why_no_chat_template(folder).value_or(""));
  return choice;
}

Option* add_prompt_options(Command& command, PromptOptions& options) {
  auto* text = command.add_option("--prompt", options.text, "the text");
  command.add_option("--file", options.file, "read the text from a file; - is standard input")
      ->type_name("F")
      ->excludes(text);
  add_chat_options(command, options.chat);
  return text;
}

void add_ids_option(Command& command, PromptOptions& options) {
  command.add_option("--ids", options.ids, "token ids instead of text, as in 1,2,3 (needs no tokenizer)")
      ->excludes(command.get_option("--prompt"))
      ->excludes(command.get_option("--file"))
      ->excludes(command.get_option("--chat"))
      ->excludes(command.get_option("--system"))
      ->excludes(command.get_option("--chat-style"));
}

std::string prompt_text(const PromptOptions& options) {
  if (options.file.empty()) return options.text;
  return without_last_line_end(options.file == kStandardInput ? read_standard_input()
                                                              : read_file(options.file));
}

run::Prompt make_prompt(const PromptOptions& options, const std::filesystem::path& folder,
                        const std::optional<text::Tokenizer>& tokenizer) {
  run::Prompt prompt;
  if (!options.ids.empty()) {
    prompt.ids = parse_ids(options.ids);
    if (!tokenizer) note_unused_tokenizer(folder);
    return prompt;
  }
  run::need_tokenizer(tokenizer, folder);
  const std::string text = prompt_text(options);
  if (text.empty()) throw_usage_error({"prompt", "some text", "an empty prompt"});
  const auto chat = settle_chat(options.chat, folder);
  prompt.rendered = chat.use ? run::ChatRenderer(chat, folder).user_message(text) : text;
  auto encoding = tokenizer->encode(prompt.rendered, !chat.use);
  prompt.ids = std::move(encoding.ids);
  prompt.spans = std::move(encoding.spans);
  return prompt;
}

std::vector<std::int32_t> parse_ids(const std::string& list) {
  std::vector<std::int32_t> ids;
  for (size_t at = 0; at <= list.size();) {
    const size_t comma = std::min(list.find(',', at), list.size());
    const std::string item = list.substr(at, comma - at);
    const size_t first = item.find_first_not_of(' ');
    std::int32_t id = 0;
    const char* begin = item.data() + (first == std::string::npos ? item.size() : first);
    const char* end = item.data() + item.size();
    const auto [stopped, failure] = std::from_chars(begin, end, id);
    if (failure != std::errc() ||
        list.find_first_not_of(' ', static_cast<size_t>(stopped - item.data()) + at) < comma) {
      throw_usage_error({"--ids", "token ids separated by commas, as in 1,2,3", fmt::format("\"{}\"", item)});
    }
    ids.push_back(id);
    at = comma + 1;
  }
  return ids;
}

}  // namespace buoy::app
