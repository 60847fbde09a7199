#include "app/model_folder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

#include "base/error.h"
#include "base/files.h"
#include "text/chat_detection.h"

namespace buoy::app {
namespace {

text::ChatStyle chat_style(const PromptOptions& options, const std::filesystem::path& folder) {
  if (options.chat_style.empty()) return text::detect_chat_style(folder);
  if (const auto style = text::chat_style_from_name(options.chat_style)) return *style;
  throw_usage_error({"--chat-style", fmt::format("one of {}", fmt::join(text::chat_style_names(), ", ")),
                     '"' + options.chat_style + '"'});
}

}  // namespace

std::string render_user_message(const PromptOptions& options, const std::filesystem::path& folder,
                                const std::string& text) {
  std::vector<text::Message> messages;
  if (!options.system.empty()) messages.push_back({"system", options.system});
  messages.push_back({"user", text});
  text::ChatOptions chat;
  chat.enable_thinking = !options.no_thinking;
  return text::render_chat(chat_style(options, folder), messages, chat);
}

void add_model_options(CLI::App& command, ModelOptions& options) {
  command.add_option("--model", options.folder, "Hugging Face folder of the model")
      ->required()
      ->type_name("DIR");
  command.add_option("--threads", options.threads, "threads to use (default: all cores)")
      ->check(CLI::Range(0, 4096));
}

int thread_count(const ModelOptions& options) {
  return options.threads > 0 ? options.threads : available_threads();
}

void add_prompt_options(CLI::App& command, PromptOptions& options, const std::string& text_flag) {
  auto* text = command.add_option(text_flag, options.text, "the text");
  auto* file = command.add_option("--file", options.file, "read the text from a file")->type_name("F");
  text->excludes(file);
  command.add_flag("--chat", options.chat, "wrap the text as a user's message in the model's chat template");
  command.add_option("--system", options.system, "system message (with --chat)");
  command.add_option("--chat-style", options.chat_style, "template to use instead of the detected one")
      ->type_name("NAME");
  command.add_flag("--no-thinking", options.no_thinking, "Qwen3: close the thinking part before it begins");
}

Prompt make_prompt(const PromptOptions& options, const std::filesystem::path& folder,
                   const std::optional<text::Tokenizer>& tokenizer) {
  Prompt prompt;
  if (!options.ids.empty()) {
    if (!options.text.empty() || !options.file.empty()) throw_usage_error({"prompt", "text or ids", "both"});
    prompt.ids = parse_ids(options.ids);
    return prompt;
  }
  if (!tokenizer) {
    throw_input_error({folder.string(), "tokenizer.json, or vocab.json and merges.txt, to encode text",
                       "neither (with --ids no tokenizer is needed)"});
  }
  const std::string text = options.file.empty() ? options.text : read_file(options.file);
  if (text.empty()) throw_usage_error({"prompt", "some text", "an empty prompt"});
  prompt.rendered = options.chat ? render_user_message(options, folder, text) : text;
  auto encoding = tokenizer->encode(prompt.rendered, !options.chat);
  prompt.ids = std::move(encoding.ids);
  prompt.spans = std::move(encoding.spans);
  return prompt;
}

bool has_tokenizer(const std::filesystem::path& folder) {
  return path_exists(folder / "tokenizer.json") ||
         (path_exists(folder / "vocab.json") && path_exists(folder / "merges.txt"));
}

LoadedModel load_model(const ModelOptions& options) {
  LoadedModel loaded{model::Model::load(options.folder), std::nullopt};
  if (has_tokenizer(options.folder)) {
    loaded.tokenizer = text::Tokenizer::load(options.folder);
    check_vocabulary(*loaded.tokenizer, loaded.model.config(), options.folder);
  }
  return loaded;
}

void check_vocabulary(const text::Tokenizer& tokenizer, const ModelConfig& config,
                      const std::filesystem::path& folder) {
  if (tokenizer.id_limit() > config.vocabulary) {
    throw_input_error({folder.string(),
                       fmt::format("a tokenizer with ids below the embedding's {} rows", config.vocabulary),
                       fmt::format("ids up to {}", tokenizer.id_limit() - 1)});
  }
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
