#include "buoy/questions/prompt/prompt_template.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "buoy/questions/data/evidence.h"
#include "buoy/questions/prompt/builtin_prompts.h"

namespace buoy::questions {
namespace {

using Kind = PromptNode::Kind;

constexpr std::uintmax_t kLargestTemplate = std::uintmax_t{1} << 18;

void add_evidence(RenderedPrompt& prompt, const Item& item, std::size_t index, std::size_t begin) {
  if (!may_hold_evidence(item, index)) return;
  for (const ByteRange& place : find_evidence(item.passages[index].text, item.answers)) {
    prompt.evidence.push_back({document_region(index + 1), begin + place.begin, begin + place.end});
  }
}

void add_region(RenderedPrompt& prompt, std::string name, std::size_t begin) {
  if (begin < prompt.text.size()) prompt.regions.push_back({std::move(name), begin, prompt.text.size()});
}

class Renderer {
 public:
  explicit Renderer(const Item& item) : item_(item) {}

  RenderedPrompt render(const std::vector<PromptNode>& nodes) {
    render_all(nodes);
    return std::move(prompt_);
  }

 private:
  void render_all(const std::vector<PromptNode>& nodes) {
    for (const PromptNode& node : nodes) render_one(node);
  }

  void render_one(const PromptNode& node) {
    const std::size_t begin = prompt_.text.size();
    switch (node.kind) {
      case Kind::kLiteral:
        prompt_.text += node.text;
        break;
      case Kind::kQuestion:
        prompt_.text += item_.question;
        if (!in_region_) add_region(prompt_, std::string(kQueryRegion), begin);
        add_filled(begin);
        break;
      case Kind::kNumber:
        prompt_.text += fmt::to_string(index_ + 1);
        break;
      case Kind::kLetter:
        add_letter();
        break;
      case Kind::kTitle:
        prompt_.text += item_.passages[index_].title;
        add_filled(begin);
        break;
      case Kind::kText:
        prompt_.text += item_.passages[index_].text;
        add_evidence(prompt_, item_, index_, begin);
        add_filled(begin);
        break;
      case Kind::kPassages:
        render_passages(node);
        break;
      case Kind::kNoPassages:
        if (item_.passages.empty()) render_all(node.children);
        break;
      case Kind::kIfTitle:
        if (!item_.passages[index_].title.empty()) render_all(node.children);
        break;
      case Kind::kIfLabel:
        if (item_.labels.at(node.label) == node.text) render_all(node.children);
        break;
      case Kind::kRegion:
        in_region_ = true;
        render_all(node.children);
        in_region_ = false;
        add_region(prompt_, node.text, begin);
        break;
    }
  }

  void add_letter() {
    constexpr std::size_t kLetters = 26;
    if (index_ >= kLetters) {
      throw_input_error({fmt::format("item {}: passages", item_.id), "at most 26, one for each {{letter}}",
                         fmt::format("{}", item_.passages.size())});
    }
    prompt_.text += static_cast<char>('A' + index_);
  }

  void add_filled(std::size_t begin) {
    if (begin < prompt_.text.size()) prompt_.filled.push_back({"", begin, prompt_.text.size()});
  }

  void render_passages(const PromptNode& node) {
    for (index_ = 0; index_ < item_.passages.size(); ++index_) {
      const std::size_t begin = prompt_.text.size();
      render_all(node.children);
      add_region(prompt_, document_region(index_ + 1), begin);
    }
  }

  const Item& item_;
  RenderedPrompt prompt_;
  std::size_t index_ = 0;  // of the passage
  bool in_region_ = false;
};

// The first place that reads like the question and lies in no passage.
void add_question(RenderedPrompt& prompt, const std::string& question) {
  const auto overlaps = [&](std::size_t begin) {
    return std::any_of(prompt.regions.begin(), prompt.regions.end(), [&](const RegionSpan& region) {
      return begin < region.end && region.begin < begin + question.size();
    });
  };
  std::size_t at = prompt.text.find(question);
  while (at != std::string::npos && overlaps(at)) at = prompt.text.find(question, at + 1);
  if (at != std::string::npos)
    prompt.regions.push_back({std::string(kQueryRegion), at, at + question.size()});
}

// What lies in no passage is the prompt itself. The passages come in the order of the text.
void add_rest(RenderedPrompt& prompt) {
  std::vector<RegionSpan> rest;
  std::size_t behind = 0;
  const auto add_until = [&](std::size_t end) {
    if (behind < end) rest.push_back({std::string(kPromptRegion), behind, end});
  };
  for (const auto& passage : prompt.regions) {
    add_until(passage.begin);
    behind = passage.end;
  }
  add_until(prompt.text.size());
  prompt.regions.insert(prompt.regions.end(), rest.begin(), rest.end());
}

bool has(const std::vector<PromptNode>& nodes, Kind kind) {
  return std::any_of(nodes.begin(), nodes.end(), [&](const PromptNode& node) { return node.kind == kind; });
}

}  // namespace

PromptTemplate::PromptTemplate(std::string name, std::string source)
    : name_(std::move(name)),
      source_(std::move(source)),
      nodes_(parse_prompt(source_, name_)),
      labels_(labels_of(nodes_)) {}

PromptTemplate PromptTemplate::parse(std::string_view text, const std::string& name) {
  return {name, std::string(text)};
}

PromptTemplate PromptTemplate::load(const std::string& name_or_file) {
  for (const BuiltinPrompt& prompt : builtin_prompts()) {
    if (prompt.name == name_or_file) return parse(prompt.text, name_or_file);
  }
  if (name_or_file == kReadyPrompts)
    return parse("{{! Every question has a ready prompt. }}\n{{question}}\n", name_or_file);
  if (!path_exists(name_or_file)) {
    std::vector<std::string_view> names = {kReadyPrompts};
    for (const BuiltinPrompt& prompt : builtin_prompts()) names.push_back(prompt.name);
    throw_usage_error({"prompt template", fmt::format("a file or one of {}", fmt::join(names, ", ")),
                       fmt::format("\"{}\"", name_or_file)});
  }
  return parse(read_file(name_or_file, kLargestTemplate), name_or_file);
}

bool PromptTemplate::uses_passages() const {
  return has(nodes_, Kind::kPassages);
}

RenderedPrompt PromptTemplate::render(const Item& item) const {
  if (item.passages.empty() && uses_passages() && !has(nodes_, Kind::kNoPassages)) {
    throw_input_error({fmt::format("item {}: passages", item.id),
                       fmt::format("at least one, for the prompt \"{}\"", name_), "none"});
  }
  for (const auto& [label, values] : labels_) {
    const auto found = item.labels.find(label);
    if (found != item.labels.end() && values.contains(found->second)) continue;
    throw_input_error({fmt::format("item {}: label \"{}\"", item.id, label),
                       fmt::format("one of {}, as the prompt \"{}\" knows", fmt::join(values, ", "), name_),
                       found == item.labels.end() ? "no such label" : fmt::format("\"{}\"", found->second)});
  }
  return Renderer(item).render(nodes_);
}

RenderedPrompt ready_prompt(const Item& item) {
  if (!item.prompt) throw_usage_error({fmt::format("item {}", item.id), "a ready prompt", "none"});
  RenderedPrompt prompt{*item.prompt, {}, {}};
  std::size_t behind = 0;
  for (std::size_t i = 0; i < item.passages.size(); ++i) {
    const std::string& text = item.passages[i].text;
    const std::size_t begin = text.empty() ? std::string::npos : prompt.text.find(text, behind);
    if (begin == std::string::npos) continue;
    behind = begin + text.size();
    prompt.regions.push_back({document_region(i + 1), begin, behind});
    add_evidence(prompt, item, i, begin);
  }
  if (item.question.empty()) {
    add_rest(prompt);
  } else {
    add_question(prompt, item.question);
  }
  std::sort(prompt.regions.begin(), prompt.regions.end(),
            [](const RegionSpan& a, const RegionSpan& b) { return a.begin < b.begin; });
  prompt.filled = prompt.regions;
  return prompt;
}

}  // namespace buoy::questions
