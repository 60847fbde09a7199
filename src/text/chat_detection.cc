#include "text/chat_detection.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <initializer_list>
#include <string>

#include "base/error.h"
#include "base/files.h"
#include "base/json_file.h"

namespace buoy::text {
namespace {

struct FoundTemplate {
  std::string file;
  std::string text;
};

// A template is given as text or as a list of {"name", "template"}, of which "default" counts.
std::optional<std::string> template_of(const JsonObject& object) {
  const Json* value = object.find("chat_template");
  if (value == nullptr) return std::nullopt;
  if (value->is_string()) return value->get<std::string>();
  if (!value->is_array()) object.fail("chat_template", "text or a list of named templates");
  for (size_t i = 0; i < value->size(); ++i) {
    const JsonObject named((*value)[i], fmt::format("{}: chat_template[{}]", object.name(), i));
    if (named.required_text("name") == "default") return named.required_text("template");
  }
  return std::nullopt;
}

std::optional<FoundTemplate> find_template(const std::filesystem::path& folder) {
  if (const auto file = folder / "chat_template.jinja"; path_exists(file)) {
    return FoundTemplate{file.string(), read_file(file)};
  }
  for (const char* name : {"chat_template.json", "tokenizer_config.json"}) {
    const auto file = folder / name;
    if (!path_exists(file)) continue;
    const Json json = read_json_file(file);
    if (auto text = template_of(JsonObject(json, file.string()))) return FoundTemplate{file.string(), *text};
  }
  return std::nullopt;
}

std::string read_bos_token(const std::filesystem::path& folder) {
  const auto file = folder / "tokenizer_config.json";
  if (!path_exists(file)) return "";
  const Json json = read_json_file(file);
  const JsonObject config(json, file.string());
  const Json* bos = config.find("bos_token");
  if (bos == nullptr) return "";
  if (bos->is_object()) return config.object("bos_token")->required_text("content");
  return config.required_text("bos_token");
}

}  // namespace

std::optional<ChatStyle> recognize_template(std::string_view chat_template, std::string_view bos_token) {
  const auto has = [&](std::string_view marker) {
    return chat_template.find(marker) != std::string_view::npos;
  };
  const auto has_all = [&](std::initializer_list<std::string_view> markers) {
    for (const std::string_view marker : markers) {
      if (!has(marker)) return false;
    }
    return true;
  };
  if (has_all({"<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>", "trim"})) {
    if (has_all({"Cutting Knowledge Date: December 2023", "26 Jul 2024"}) && !has("strftime_now")) {
      return ChatStyle::kLlama31;
    }
    if (has("Cutting Knowledge Date") || has("tool") || !has("bos_token + content")) return std::nullopt;
    if (bos_token == "<|startoftext|>") return ChatStyle::kLlada;
    if (bos_token != "<|begin_of_text|>") return std::nullopt;
    return has("add_generation_prompt") ? ChatStyle::kLlama3 : ChatStyle::kLlama3First;
  }
  if (has_all({"<|im_start|>", "<|im_end|>", "add_generation_prompt"}) && !has("trim")) {
    if (has_all({"last_query_index", "enable_thinking is false", "</think>"})) return ChatStyle::kQwen3;
    if (has("think")) return std::nullopt;
    if (has("You are Qwen, created by Alibaba Cloud. You are a helpful assistant."))
      return ChatStyle::kQwen25;
    if (has("You are a helpful assistant.")) return ChatStyle::kDream;
  }
  return std::nullopt;
}

ChatStyle detect_chat_style(const std::filesystem::path& folder) {
  const auto found = find_template(folder);
  if (!found) {
    throw_input_error({folder.string(), "a chat template in tokenizer_config.json or chat_template.jinja",
                       "none; this may be a base model"});
  }
  const auto style = recognize_template(found->text, read_bos_token(folder));
  if (!style) {
    throw_input_error({fmt::format("{}: chat template", found->file),
                       fmt::format("a template Buoy knows ({}); --chat-style NAME chooses one of them",
                                   fmt::join(chat_style_names(), ", ")),
                       "another"});
  }
  return *style;
}

}  // namespace buoy::text
