#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "buoy/text/chat/chat_style.h"
#include "buoy/text/chat/chat_template.h"
#include "buoy/text/tokenizer/tokenizer.h"

namespace buoy::questions {

// How the generated slots become an answer; docs/data-formats.md lists the rules of every family.
struct AnswerRules {
  std::vector<std::int32_t> end_ids;  // EOS, EoT: the answer ends before the first of them
  bool keep_text_after_end = false;   // the authors' LLaDA: drop special tokens, keep the text behind them
  bool drop_thought = false;          // of models that think: drop all up to the last </think>
  bool first_line_only = false;
};

struct CleanAnswer {
  std::string text;
  bool ended = false;                 // an end marker was among the slots
  std::size_t tokens = 0;             // slots before the first end marker
  std::int64_t ids_without_text = 0;  // of the slots that became the text: shown as "<id 44335>"
};

// The rules of the family that a chat template belongs to. InputError when the tokenizer has none of the
// family's end markers.
AnswerRules answer_rules(text::ChatStyle style, const text::Tokenizer& tokenizer);

// Those of a folder's own template: an answer ends before the first of the special tokens that the template
// or the tokenizer's configuration ends it with.
AnswerRules answer_rules(const text::ChatTemplate& chat, const text::Tokenizer& tokenizer);

// `slots` are the generated ids alone, in the order of their positions.
CleanAnswer clean_answer(std::span<const std::int32_t> slots, const text::Tokenizer& tokenizer,
                         const AnswerRules& rules);

}  // namespace buoy::questions
