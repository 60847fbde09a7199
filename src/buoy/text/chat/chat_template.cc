#include "buoy/text/chat/chat_template.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"
#include "buoy/text/chat/jinja/jinja_date.h"
#include "buoy/text/tokenizer/special_tokens.h"

namespace buoy::text {
namespace {

constexpr std::uintmax_t kMaxTemplateFile = std::uintmax_t{4} << 20;

struct Source {
  std::string text, name;
};

// Text, or a list of {"name", "template"}, of which "default" counts.
std::optional<Source> template_in(const std::filesystem::path& file) {
  const Json json = read_json_file(file);
  const JsonObject object(json, file.string());
  const Json* value = object.find("chat_template");
  if (value == nullptr) return std::nullopt;
  const std::string name = file.string() + ": chat_template";
  if (value->is_string()) return Source{value->get<std::string>(), name};
  if (!value->is_array()) object.fail("chat_template", "text or a list of named templates");
  for (size_t i = 0; i < value->size(); ++i) {
    const JsonObject named((*value)[i], fmt::format("{}[{}]", name, i));
    if (named.required_text("name") == "default") return Source{named.required_text("template"), name};
  }
  throw_input_error({name, "a template named \"default\"", fmt::format("{} others", value->size())});
}

std::optional<Source> find_source(const std::filesystem::path& folder) {
  if (const auto file = folder / "chat_template.jinja"; path_exists(file))
    return Source{read_file(file, kMaxTemplateFile), file.string()};
  for (const char* name : {"tokenizer_config.json", "chat_template.json"}) {
    if (!path_exists(folder / name)) continue;
    if (auto found = template_in(folder / name)) return found;
  }
  return std::nullopt;
}

jinja::Value text_value(std::string text) {
  return jinja::Value(jinja::Text{std::make_shared<const std::string>(std::move(text))});
}

jinja::Value message_list(std::span<const Message> messages) {
  jinja::Budget budget{jinja::Limits{}};
  jinja::Values list;
  for (const Message& message : messages) {
    list.push_back(jinja::make_dict(budget, {{text_value("role"), text_value(message.role)},
                                             {text_value("content"), text_value(message.content)}}));
  }
  return jinja::make_list(budget, std::move(list));
}

}  // namespace

ChatTemplate ChatTemplate::parse(const std::string& text, const std::string& name, SpecialTokens tokens) {
  return {jinja::Template::parse(text, name), std::move(tokens), text.find("</think>") != std::string::npos};
}

std::optional<ChatTemplate> ChatTemplate::find(const std::filesystem::path& folder) {
  const auto source = find_source(folder);
  if (!source) return std::nullopt;
  return parse(source->text, source->name, read_special_tokens(folder));
}

std::string ChatTemplate::render(std::span<const Message> messages, const ChatOptions& options) const {
  check_conversation(messages);
  jinja::Variables variables;
  for (const auto& [name, token] : tokens_) variables.emplace(name, text_value(token));
  variables.insert_or_assign("messages", message_list(messages));
  variables.insert_or_assign("tools", jinja::Value());
  variables.insert_or_assign("documents", jinja::Value());
  variables.insert_or_assign("add_generation_prompt", jinja::Value(options.add_generation_prompt));
  if (options.enable_thinking)
    variables.insert_or_assign("enable_thinking", jinja::Value(bool{*options.enable_thinking}));
  if (options.date)
    variables.insert_or_assign("date_string", text_value(jinja::format_date(*options.date, "%d %b %Y")));
  return template_.render(variables, options.date.value_or(jinja::Date{}));
}

std::vector<std::string> ChatTemplate::end_markers() const {
  std::vector<std::string> markers;
  for (const char* name : {"eos_token", "pad_token"}) {
    const auto token = tokens_.find(name);
    if (token != tokens_.end()) markers.push_back(token->second);
  }
  const std::string answer = "\x01the answer\x01";
  const std::vector<Message> messages = {{"user", "a question"}, {"assistant", answer}};
  try {
    const std::string chat =
        render(messages, {.add_generation_prompt = false, .enable_thinking = {}, .date = {}});
    if (const size_t at = chat.rfind(answer); at != std::string::npos)
      markers.push_back(chat.substr(at + answer.size()));
  } catch (const InputError&) {
    // A template that refuses such a conversation says nothing of the end of a turn.
  }
  return markers;
}

}  // namespace buoy::text
