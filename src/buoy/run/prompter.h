#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "buoy/observe/query_groups.h"
#include "buoy/questions/item.h"
#include "buoy/questions/passages.h"
#include "buoy/questions/prompt/prompt_template.h"
#include "buoy/run/arrangement.h"
#include "buoy/run/chat_choice.h"
#include "buoy/text/tokenizer/tokenizer.h"

namespace buoy::run {

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
  // `prompt_template` is a built-in name or a file; "ready" takes ready prompts alone (InputError for an item
  // without one), "" what an item has: its ready prompt, its passages, or the question alone. An item with a
  // ready prompt and no question is that prompt, whatever the template. Without a tokenizer prompts are
  // guesses of their size: a token for every four bytes.
  Prompter(const std::string& prompt_template, const ChatChoice& chat, const std::filesystem::path& folder,
           std::optional<text::Tokenizer> tokenizer);

  // arrange(), which a ready prompt does not allow: its passages are text already. InputError then.
  questions::Item arranged(const questions::Item& item, const Arrangement& arrangement,
                           const NoiseDraw& draw = {}) const;

  ItemPrompt prompt(const questions::Item& item) const;
  // The item without its n-th passage, from 0; of a ready prompt the passage's text is taken out. InputError
  // where it is not in it.
  questions::Item without_passage(const questions::Item& item, std::size_t n) const;

  // Cuts passages until the prompt takes at most `budget` tokens; nothing when it fits as it is.
  std::optional<questions::FitResult> fit(questions::Item& item, std::size_t budget) const;

 private:
  bool is_ready(const questions::Item& item) const;
  questions::RenderedPrompt render(const questions::Item& item) const;
  text::Encoding encode(const std::string& rendered) const;

  std::optional<questions::PromptTemplate> template_;
  bool ready_alone_ = false;
  std::optional<ChatRenderer> chat_;
  std::optional<text::Tokenizer> tokenizer_;
};

// A prompt given as ids: one region, no text.
ItemPrompt prompt_of_ids(const questions::Item& item, Prompt prompt);

// Extends the regions by the generated slots, as the region "answer", and names the region of padding.
void add_answer(observe::Regions& regions, std::int64_t slots);

}  // namespace buoy::run
