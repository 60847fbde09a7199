#include "buoy/questions/score/answer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "buoy/base/error.h"
#include "buoy/text/python_strip.h"

namespace buoy::questions {
namespace {

std::vector<std::string_view> end_markers(text::ChatStyle style) {
  switch (style) {
    case text::ChatStyle::kLlada:
      return {"<|endoftext|>", "<|eot_id|>"};
    case text::ChatStyle::kLlama3:
    case text::ChatStyle::kLlama3First:
      return {"<|end_of_text|>", "<|eot_id|>"};
    case text::ChatStyle::kLlama31:
      return {"<|end_of_text|>", "<|eom_id|>", "<|eot_id|>"};
    case text::ChatStyle::kQwen25:
    case text::ChatStyle::kQwen3:
    case text::ChatStyle::kDream:
      return {"<|endoftext|>", "<|im_end|>"};
  }
  throw InternalError("chat style without end markers");
}

std::string_view without_thought(std::string_view text) {
  constexpr std::string_view kEnd = "</think>";
  const std::size_t end = text.rfind(kEnd);
  return end == std::string_view::npos ? text : text.substr(end + kEnd.size());
}

}  // namespace

AnswerRules answer_rules(text::ChatStyle style, const text::Tokenizer& tokenizer) {
  AnswerRules rules;
  const auto markers = end_markers(style);
  for (const std::string_view marker : markers) {
    if (const auto id = tokenizer.token_id(marker)) rules.end_ids.push_back(*id);
  }
  if (rules.end_ids.empty()) {
    throw_input_error({"tokenizer",
                       fmt::format("an end marker of the chat template {}: {}", text::chat_style_name(style),
                                   fmt::join(markers, ", ")),
                       "none of them"});
  }
  rules.drop_thought = style == text::ChatStyle::kQwen3;
  return rules;
}

AnswerRules answer_rules(const text::ChatTemplate& chat, const text::Tokenizer& tokenizer) {
  AnswerRules rules;
  for (const std::string& marker : chat.end_markers()) {
    for (const std::int32_t id : tokenizer.encode(marker, false).ids) {
      if (!tokenizer.is_special(id)) continue;
      rules.end_ids.push_back(id);
      break;
    }
  }
  rules.drop_thought = chat.has_thoughts();
  return rules;
}

CleanAnswer clean_answer(std::span<const std::int32_t> slots, const text::Tokenizer& tokenizer,
                         const AnswerRules& rules) {
  const auto end = std::find_first_of(slots.begin(), slots.end(), rules.end_ids.begin(), rules.end_ids.end());
  CleanAnswer answer;
  answer.ended = end != slots.end();
  answer.tokens = static_cast<std::size_t>(end - slots.begin());
  const auto shown = rules.keep_text_after_end ? slots : slots.first(answer.tokens);
  answer.ids_without_text = tokenizer.count_without_token(shown);
  const std::string decoded = tokenizer.decode(shown, true);
  std::string_view text = decoded;
  if (rules.drop_thought) text = without_thought(text);
  text = text::python_strip(text);
  if (rules.first_line_only) text = text::python_strip(text.substr(0, text.find('\n')));
  answer.text = text;
  return answer;
}

}  // namespace buoy::questions
