#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "buoy/text/chat/conversation.h"
#include "buoy/text/chat/jinja/jinja_template.h"

namespace buoy::text {

// The chat template of a checkpoint with the special tokens it may use (docs/chat-templates.md).
class ChatTemplate {
 public:
  using SpecialTokens = std::map<std::string, std::string>;  // "bos_token": "<s>"

  // `name` is the file named in errors. InputError for a template Buoy cannot read, with construct and line.
  static ChatTemplate parse(const std::string& text, const std::string& name, SpecialTokens tokens);

  // The template that transformers would use of a folder: chat_template.jinja, else tokenizer_config.json,
  // else chat_template.json. Nothing when there is none. InputErrors as parse.
  static std::optional<ChatTemplate> find(const std::filesystem::path& folder);

  // The conversation as transformers' apply_chat_template renders it without tools. Encode the result
  // without special tokens: BOS is in the text where the template puts it. InputError, with construct and
  // line, for what the template refuses and for what Buoy does not know.
  std::string render(std::span<const Message> messages, const ChatOptions& options) const;

  // What may stand behind an answer: the special tokens for the end and for padding, and what the template
  // puts behind an assistant's message.
  std::vector<std::string> end_markers() const;

  // Whether the template knows of thoughts that end with "</think>".
  bool has_thoughts() const { return has_thoughts_; }
  const std::string& name() const { return template_.name(); }

 private:
  ChatTemplate(jinja::Template read, SpecialTokens tokens, bool has_thoughts)
      : template_(std::move(read)), tokens_(std::move(tokens)), has_thoughts_(has_thoughts) {}

  jinja::Template template_;
  SpecialTokens tokens_;
  bool has_thoughts_;
};

}  // namespace buoy::text
