#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "evaluate/item.h"
#include "evaluate/passages.h"
#include "evaluate/prompt_template.h"
#include "experiment/chat_choice.h"
#include "observe/query_groups.h"
#include "text/tokenizer.h"

namespace buoy::experiment {

// A text as the model reads it.
struct Prompt {
  std::vector<std::int32_t> ids;
  std::string rendered;               // "" when given as ids
  std::vector<text::ByteSpan> spans;  // of each id in `rendered`
};

// The prompt of one question: its tokens, and what part of it every token is.
struct ItemPrompt {
  std::string id, question;
  std::vector<std::string> answers;
  Prompt prompt;
  observe::Regions regions;  // of the prompt's tokens; add_answer() adds the generated ones
};

// Turns questions into prompts of one model.
class Prompter {
 public:
  // `prompt_template` is a built-in name or a file; "" takes what an item has: its ready prompt, its
  // passages, or the question alone.
  Prompter(const std::string& prompt_template, const ChatChoice& chat, const std::filesystem::path& folder,
           text::Tokenizer tokenizer);

  ItemPrompt prompt(const evaluate::Item& item) const;

  // Cuts passages until the prompt takes at most `budget` tokens; nothing when it fits as it is.
  std::optional<evaluate::FitResult> fit(evaluate::Item& item, std::size_t budget) const;

 private:
  evaluate::RenderedPrompt render(const evaluate::Item& item) const;

  std::optional<evaluate::PromptTemplate> template_;
  std::optional<ChatRenderer> chat_;
  text::Tokenizer tokenizer_;
};

// A prompt given as ids: one region, no text.
ItemPrompt prompt_of_ids(const evaluate::Item& item, Prompt prompt);

// Extends the regions by the generated slots, as the region "answer".
void add_answer(observe::Regions& regions, std::int64_t slots);

}  // namespace buoy::experiment
