#include "buoy/text/chat/chat_style.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "buoy/base/error.h"
#include "buoy/text/chat/jinja/jinja_date.h"
#include "buoy/text/python_strip.h"

namespace buoy::text {
namespace {

constexpr std::array<std::pair<ChatStyle, std::string_view>, 7> kNames = {{
    {ChatStyle::kLlada, "llada"},
    {ChatStyle::kLlama3, "llama3"},
    {ChatStyle::kLlama3First, "llama3-first"},
    {ChatStyle::kLlama31, "llama3.1"},
    {ChatStyle::kQwen25, "qwen2.5"},
    {ChatStyle::kQwen3, "qwen3"},
    {ChatStyle::kDream, "dream"},
}};

using Messages = std::span<const Message>;

void expect_chat_roles(Messages messages) {
  for (const Message& message : messages) {
    if (message.role != "system" && message.role != "user" && message.role != "assistant") {
      throw_usage_error(
          {"chat message", "role system, user or assistant", fmt::format("\"{}\"", message.role)});
    }
  }
}

std::string header_turn(std::string_view role, std::string_view content) {
  return fmt::format("<|start_header_id|>{}<|end_header_id|>\n\n{}<|eot_id|>", role, content);
}

constexpr std::string_view kOpenHeaderTurn = "<|start_header_id|>assistant<|end_header_id|>\n\n";

std::string render_header_chat(std::string_view bos, Messages messages, bool open_turn) {
  std::string text(bos);
  for (const Message& message : messages) text += header_turn(message.role, python_strip(message.content));
  if (open_turn) text += kOpenHeaderTurn;
  return text;
}

std::string render_llama31(Messages messages, const ChatOptions& options) {
  expect_chat_roles(messages);
  std::string system = fmt::format("Cutting Knowledge Date: December 2023\nToday Date: {}\n\n",
                                   jinja::format_date(options.date.value_or(jinja::Date{}), "%d %b %Y"));
  if (messages.front().role == "system") {
    system += python_strip(messages.front().content);
    messages = messages.subspan(1);
  }
  return "<|begin_of_text|>" + header_turn("system", system) +
         render_header_chat("", messages, options.add_generation_prompt);
}

std::string chatml_turn(std::string_view role, std::string_view content) {
  return fmt::format("<|im_start|>{}\n{}<|im_end|>\n", role, content);
}

constexpr std::string_view kOpenChatmlTurn = "<|im_start|>assistant\n";

std::string render_chatml(std::string_view default_system, Messages messages, const ChatOptions& options) {
  expect_chat_roles(messages);
  std::string text;
  if (messages.front().role != "system") text += chatml_turn("system", default_system);
  for (const Message& message : messages) text += chatml_turn(message.role, message.content);
  if (options.add_generation_prompt) text += kOpenChatmlTurn;
  return text;
}

struct Reply {
  std::string_view thought;
  std::string_view answer;
};

Reply split_thought(std::string_view content) {
  constexpr std::string_view kOpen = "<think>", kClose = "</think>";
  const size_t first_close = content.find(kClose);
  if (first_close == std::string_view::npos) return {"", content};
  std::string_view thought = strip_end(content.substr(0, first_close), '\n');
  if (const size_t open = thought.rfind(kOpen); open != std::string_view::npos) {
    thought.remove_prefix(open + kOpen.size());
  }
  return {strip_begin(thought, '\n'),
          strip_begin(content.substr(content.rfind(kClose) + kClose.size()), '\n')};
}

bool is_query(const Message& message) {
  const std::string_view content = message.content;
  return message.role == "user" &&
         !(content.starts_with("<tool_response>") && content.ends_with("</tool_response>"));
}

// Thoughts stay only in replies to the last query.
std::string render_qwen3(Messages messages, const ChatOptions& options) {
  expect_chat_roles(messages);
  const auto last_query = std::find_if(messages.rbegin(), messages.rend(), is_query);
  const size_t last_query_index = last_query == messages.rend()
                                      ? messages.size() - 1
                                      : static_cast<size_t>(messages.rend() - last_query) - 1;

  std::string text;
  for (size_t i = 0; i < messages.size(); ++i) {
    const Message& message = messages[i];
    if (message.role != "assistant") {
      text += chatml_turn(message.role, message.content);
      continue;
    }
    const Reply reply = split_thought(message.content);
    const bool keeps_thought = i > last_query_index && (i + 1 == messages.size() || !reply.thought.empty());
    text += !keeps_thought ? chatml_turn(message.role, reply.answer)
                           : chatml_turn(message.role, fmt::format("<think>\n{}\n</think>\n\n{}",
                                                                   strip_end(reply.thought, '\n'),
                                                                   strip_begin(reply.answer, '\n')));
  }
  if (options.add_generation_prompt) {
    text += kOpenChatmlTurn;
    if (!options.enable_thinking.value_or(true)) text += "<think>\n\n</think>\n\n";
  }
  return text;
}

}  // namespace

std::string_view chat_style_name(ChatStyle style) {
  for (const auto& [known, name] : kNames) {
    if (known == style) return name;
  }
  throw InternalError("chat style without a name");
}

std::optional<ChatStyle> chat_style_from_name(std::string_view name) {
  for (const auto& [style, known] : kNames) {
    if (known == name) return style;
  }
  return std::nullopt;
}

std::vector<std::string_view> chat_style_names() {
  std::vector<std::string_view> names;
  for (const auto& [style, name] : kNames) names.push_back(name);
  return names;
}

std::string render_chat(ChatStyle style, std::span<const Message> messages, const ChatOptions& options) {
  check_conversation(messages);
  switch (style) {
    case ChatStyle::kLlada:
      return render_header_chat("<|startoftext|>", messages, true);
    case ChatStyle::kLlama3:
      return render_header_chat("<|begin_of_text|>", messages, options.add_generation_prompt);
    case ChatStyle::kLlama3First:
      return render_header_chat("<|begin_of_text|>", messages, true);
    case ChatStyle::kLlama31:
      return render_llama31(messages, options);
    case ChatStyle::kQwen25:
      return render_chatml("You are Qwen, created by Alibaba Cloud. You are a helpful assistant.", messages,
                           options);
    case ChatStyle::kQwen3:
      return render_qwen3(messages, options);
    case ChatStyle::kDream:
      return render_chatml("You are a helpful assistant.", messages, options);
  }
  throw InternalError("chat style without a template");
}

}  // namespace buoy::text
