#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "buoy/questions/item.h"
#include "buoy/questions/prompt/prompt_parser.h"
#include "buoy/questions/prompt/region.h"

namespace buoy::questions {

// The text around a question and its passages, with its regions. Immutable.
class PromptTemplate {
 public:
  static PromptTemplate parse(std::string_view text, const std::string& name);
  // One of builtin_prompts.h by its name, else a file; "ready" stands for no template. UsageError for
  // neither.
  static PromptTemplate load(const std::string& name_or_file);

  const std::string& name() const { return name_; }
  const std::string& source() const { return source_; }  // the template's own text
  bool uses_passages() const;

  // Passages are left out by a template that does not use them. InputError for an item without passages
  // when the template uses them and says nothing for that case ({{^passages}}), and for one whose labels
  // choose none of the template's sections {{#label NAME VALUE}}.
  RenderedPrompt render(const Item& item) const;

 private:
  PromptTemplate(std::string name, std::string source);

  std::string name_;
  std::string source_;
  std::vector<PromptNode> nodes_;
  std::map<std::string, std::set<std::string>> labels_;  // that sections are chosen by
};

// An item's own ready prompt: the question and the passages' texts are regions where they stand in it word
// for word, each searched for behind the one before. Of an item without a question all but the passages is
// the region "prompt". UsageError for an item without a ready prompt.
RenderedPrompt ready_prompt(const Item& item);

}  // namespace buoy::questions
