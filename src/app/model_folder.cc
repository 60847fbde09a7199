#include "app/model_folder.h"

#include <fmt/format.h>

#include <charconv>

#include "base/error.h"
#include "base/files.h"
#include "checkpoint/hub_cache.h"

namespace buoy::app {

void add_model_options(Command& command, ModelOptions& options) {
  command
      .add_option("--model", options.folder,
                  "folder of the model, or its id in the Hugging Face cache (ORG/NAME, ORG/NAME@REVISION)")
      ->required()
      ->type_name("MODEL");
  command.add_option("--threads", options.threads, "threads to use (default: all cores)")->range(0, 4096);
  add_device_option(command, options.device);
}

void add_device_option(Command& command, std::string& device) {
  command
      .add_option("--device", device, "where models run: cpu, cuda, or auto (default: a GPU if there is one)")
      ->one_of({"cpu", "cuda", "auto"});
}

int thread_count(const ModelOptions& options) {
  return options.threads > 0 ? options.threads : available_threads();
}

void add_prompt_options(Command& command, PromptOptions& options, const std::string& text_flag) {
  auto* text = command.add_option(text_flag, options.text, "the text");
  auto* file = command.add_option("--file", options.file, "read the text from a file")->type_name("F");
  text->excludes(file);
  auto* chat = command.add_flag("--chat", options.chat.use,
                                "wrap the text as a user's message in the model's chat template");
  command.add_option("--system", options.chat.system, "system message")->needs(chat);
  command
      .add_option("--chat-style", options.chat.style,
                  "style written by hand instead of the folder's template (docs/chat-templates.md)")
      ->type_name("NAME")
      ->needs(chat);
  command
      .add_flag("--no-thinking", options.chat.no_thinking, "tell the template not to think (enable_thinking)")
      ->needs(chat);
  command.add_option("--chat-date", options.chat.date, "day that templates are told (default: 2024-07-26)")
      ->type_name("YYYY-MM-DD")
      ->needs(chat);
}

// Ids need no tokenizer, but a folder that has one seems to promise text.
static void note_unused_tokenizer(const std::filesystem::path& folder) {
  try {
    experiment::load_tokenizer(folder, read_config(folder));
  } catch (const InputError& error) {
    fmt::print(stderr, "note: without text, for the tokenizer is not supported: {}\n", error.what());
  }
}

experiment::Prompt make_prompt(const PromptOptions& options, const std::filesystem::path& folder,
                               const std::optional<text::Tokenizer>& tokenizer) {
  experiment::Prompt prompt;
  if (!options.ids.empty()) {
    if (!options.text.empty() || !options.file.empty()) throw_usage_error({"prompt", "text or ids", "both"});
    prompt.ids = parse_ids(options.ids);
    if (!tokenizer) note_unused_tokenizer(folder);
    return prompt;
  }
  experiment::need_tokenizer(tokenizer, folder);
  const std::string text = options.file.empty() ? options.text : read_file(options.file);
  if (text.empty()) throw_usage_error({"prompt", "some text", "an empty prompt"});
  prompt.rendered =
      options.chat.use ? experiment::ChatRenderer(options.chat, folder).user_message(text) : text;
  auto encoding = tokenizer->encode(prompt.rendered, !options.chat.use);
  prompt.ids = std::move(encoding.ids);
  prompt.spans = std::move(encoding.spans);
  return prompt;
}

experiment::LoadedModel load_model(const ModelOptions& options) {
  const Device device = device_from_name(options.device);
  auto loaded = experiment::load_model(find_model(options.folder), device);
  const std::string stored = loaded.model.checkpoint().stored_types();
  if (device == Device::kCuda && stored != "BF16")
    fmt::print(stderr, "note: weights stored as {} are used as BF16 on the GPU\n", stored);
  return loaded;
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
