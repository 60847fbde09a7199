#include "buoy/run/chat_choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "buoy/base/error.h"
#include "buoy/base/utf8.h"

namespace buoy::run {
namespace {

text::ChatStyle style_of(const std::string& name) {
  if (const auto style = text::chat_style_from_name(name)) return *style;
  throw_usage_error(
      {"`style`", fmt::format("one of {}", fmt::join(text::chat_style_names(), ", ")), '"' + name + '"'});
}

// A template that is read may still refuse to be rendered: this is found out before anything is asked.
text::ChatTemplate usable_template(const std::filesystem::path& folder) {
  const auto found = text::ChatTemplate::find(folder);
  if (!found) {
    throw_input_error({folder.string(),
                       "a chat template (chat_template.jinja, or chat_template in tokenizer_config.json)",
                       "none; this may be a base model"});
  }
  const std::vector<text::Message> question = {{"user", "a question"}};
  found->render(question, {});
  return *found;
}

std::variant<text::ChatStyle, text::ChatTemplate> form_of(const ChatChoice& choice,
                                                          const std::filesystem::path& folder) {
  if (!choice.style.empty()) return style_of(choice.style);
  try {
    return usable_template(folder);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{} (`style` NAME renders by a style written by hand: {})", error.what(),
                                 fmt::join(text::chat_style_names(), ", ")));
  }
}

text::ChatOptions options_of(const ChatChoice& choice) {
  text::ChatOptions options;
  if (choice.no_thinking) options.enable_thinking = false;
  if (!choice.date.empty()) {
    options.date = text::jinja::date_from_text(choice.date);
    if (!options.date) throw_usage_error({"`date`", "a date as in 2024-07-26", '"' + choice.date + '"'});
  }
  return options;
}

}  // namespace

bool has_chat_template(const std::filesystem::path& folder) {
  try {
    return text::ChatTemplate::find(folder).has_value();
  } catch (const InputError&) {
    return true;  // one that cannot be read
  }
}

std::optional<std::string> why_no_chat_template(const std::filesystem::path& folder) {
  try {
    usable_template(folder);
    return std::nullopt;
  } catch (const InputError& error) {
    return error.what();
  }
}

ChatChoice settle(ChatUse use, ChatChoice choice, const std::filesystem::path& folder) {
  if (first_invalid_utf8(choice.system) < choice.system.size())
    throw_usage_error({"`system`", "well-formed UTF-8", replace_invalid_utf8(choice.system)});
  const bool demanded = use == ChatUse::kAlways || !choice.style.empty() || !choice.system.empty();
  choice.use = use != ChatUse::kNever && (demanded || !why_no_chat_template(folder));
  if (choice.use) ChatRenderer(choice, folder);  // refuses what it does not know, before any work
  return choice;
}

ChatRenderer::ChatRenderer(const ChatChoice& choice, const std::filesystem::path& folder)
    : system_(choice.system), options_(options_of(choice)), form_(form_of(choice, folder)) {}

std::string ChatRenderer::user_message(const std::string& text) const {
  std::vector<text::Message> messages;
  if (!system_.empty()) messages.push_back({"system", system_});
  messages.push_back({"user", text});
  if (const auto* style = std::get_if<text::ChatStyle>(&form_))
    return render_chat(*style, messages, options_);
  return std::get<text::ChatTemplate>(form_).render(messages, options_);
}

questions::AnswerRules ChatRenderer::answer_rules(const text::Tokenizer& tokenizer) const {
  if (const auto* style = std::get_if<text::ChatStyle>(&form_))
    return questions::answer_rules(*style, tokenizer);
  return questions::answer_rules(std::get<text::ChatTemplate>(form_), tokenizer);
}

}  // namespace buoy::run
