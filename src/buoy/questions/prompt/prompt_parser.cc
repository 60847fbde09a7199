#include "buoy/questions/prompt/prompt_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "buoy/base/error.h"
#include "buoy/questions/prompt/prompt_scanner.h"
#include "buoy/questions/prompt/region.h"

namespace buoy::questions {
namespace {

using Kind = PromptNode::Kind;

constexpr std::string_view kRegionTag = "region ", kLabelTag = "label ";

struct NamedKind {
  std::string_view name;
  Kind kind;
};

constexpr std::array<NamedKind, 5> kValues = {{{"question", Kind::kQuestion},
                                               {"number", Kind::kNumber},
                                               {"letter", Kind::kLetter},
                                               {"title", Kind::kTitle},
                                               {"text", Kind::kText}}};

bool is_region_name(std::string_view name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == ' ' || c == '-' || c == '_';
  };
  constexpr std::array<std::string_view, 4> kReserved = {kBosRegion, kTemplateRegion, kAnswerRegion,
                                                         kPaddingRegion};
  return !name.empty() && std::all_of(name.begin(), name.end(), allowed) && !name.starts_with("document") &&
         std::find(kReserved.begin(), kReserved.end(), name) == kReserved.end();
}

class Parser {
 public:
  Parser(std::vector<PromptToken> tokens, const std::string& name)
      : tokens_(std::move(tokens)), name_(name) {}

  std::vector<PromptNode> parse() {
    auto nodes = parse_until(nullptr);
    if (!has_question_) throw_input_error({name_ + ":1:1", "a template with {{question}}", "none"});
    return nodes;
  }

 private:
  struct Section {
    Kind kind;
    std::string name;  // as it must be closed
    std::string where;
  };

  // Up to the end of `section`, or of the template when there is none.
  std::vector<PromptNode> parse_until(const Section* section) {
    std::vector<PromptNode> nodes;
    while (at_ < tokens_.size()) {
      const PromptToken& token = tokens_[at_++];
      switch (token.kind) {
        case PromptToken::Kind::kLiteral:
          nodes.push_back({Kind::kLiteral, token.text, {}});
          break;
        case PromptToken::Kind::kValue:
          nodes.push_back(value(token));
          break;
        case PromptToken::Kind::kOpen:
        case PromptToken::Kind::kOpenInverted:
          nodes.push_back(open(token));
          break;
        case PromptToken::Kind::kClose:
          close(token, section);
          return nodes;
      }
    }
    if (section != nullptr) {
      throw_input_error({section->where, fmt::format("{{{{/{}}}}} to close the section", section->name),
                         "the end of the template"});
    }
    return nodes;
  }

  static void close(const PromptToken& token, const Section* section) {
    if (section != nullptr && token.text == section->name) return;
    throw_input_error({token.where,
                       section == nullptr ? "no closing tag: no section is open"
                                          : fmt::format("{{{{/{}}}}} first", section->name),
                       fmt::format("{{{{/{}}}}}", token.text)});
  }

  PromptNode value(const PromptToken& token) {
    for (const auto& [name, kind] : kValues) {
      if (token.text != name) continue;
      if (kind != Kind::kQuestion) {
        if (!in_passages_) out_of_place(token, "inside {{#passages}} only");
      } else {
        if (in_passages_) out_of_place(token, "outside {{#passages}}");
        if (in_label_) out_of_place(token, "outside {{#label}}");
        has_question_ = true;
        if (!in_region_) claim(std::string(kQueryRegion), token.where);
      }
      return {kind, {}, {}};
    }
    throw_input_error({token.where, "{{question}}, {{number}}, {{letter}}, {{title}} or {{text}}",
                       fmt::format("{{{{{}}}}}", token.text)});
  }

  PromptNode open(const PromptToken& token) {
    const bool inverted = token.kind == PromptToken::Kind::kOpenInverted;
    if (token.text == "passages") {
      if (in_passages_ || in_no_passages_ || in_region_ || in_label_) {
        out_of_place(token, "outside other sections");
      }
      if (!inverted && std::exchange(has_passages_, true)) {
        throw_input_error({token.where, "{{#passages}} once", "a second one: duplicate regions"});
      }
      return section({inverted ? Kind::kNoPassages : Kind::kPassages, "passages", token.where});
    }
    if (token.text == "title" && !inverted) {
      if (!in_passages_) out_of_place(token, "inside {{#passages}} only");
      if (in_title_) out_of_place(token, "outside {{#title}}");
      return section({Kind::kIfTitle, "title", token.where});
    }
    if (token.text.starts_with(kRegionTag) && !inverted) {
      if (in_passages_ || in_region_ || in_label_) out_of_place(token, "outside other sections");
      const std::string region = token.text.substr(kRegionTag.size());
      if (!is_region_name(region)) {
        throw_input_error({token.where, "a region name of a-z 0-9 - _ and spaces, not one of Buoy's own",
                           fmt::format("\"{}\"", region)});
      }
      claim(region, token.where);
      PromptNode node = section({Kind::kRegion, "region", token.where});
      node.text = region;
      return node;
    }
    if (token.text.starts_with(kLabelTag) && !inverted) return open_label(token);
    throw_input_error({token.where,
                       "{{#passages}}, {{^passages}}, {{#title}}, {{#label NAME VALUE}} or {{#region NAME}}",
                       fmt::format("{{{{{}{}}}}}", inverted ? '^' : '#', token.text)});
  }

  // "label NAME VALUE". Questions and passages stand outside, so that every prompt has the same regions.
  PromptNode open_label(const PromptToken& token) {
    const std::size_t name = kLabelTag.size(), space = token.text.find(' ', name);
    const bool two_words = space != std::string::npos && space > name && space + 1 < token.text.size() &&
                           token.text.find(' ', space + 1) == std::string::npos;
    if (!two_words) {
      throw_input_error({token.where, "{{#label NAME VALUE}}", fmt::format("{{{{#{}}}}}", token.text)});
    }
    if (in_label_) out_of_place(token, "outside other labels");
    PromptNode node = section({Kind::kIfLabel, "label", token.where});
    node.label = token.text.substr(name, space - name);
    node.text = token.text.substr(space + 1);
    return node;
  }

  // No section stands in one of its own kind, so the recursion goes no deeper than there are kinds.
  PromptNode section(const Section& section) {
    bool& inside = section.kind == Kind::kPassages     ? in_passages_
                   : section.kind == Kind::kNoPassages ? in_no_passages_
                   : section.kind == Kind::kIfTitle    ? in_title_
                   : section.kind == Kind::kIfLabel    ? in_label_
                                                       : in_region_;
    inside = true;
    PromptNode node{section.kind, {}, parse_until(&section)};
    inside = false;
    return node;
  }

  void claim(const std::string& region, const std::string& where) {
    if (regions_.insert(region).second) return;
    throw_input_error({where, "each region once", fmt::format("region \"{}\" a second time", region)});
  }

  [[noreturn]] static void out_of_place(const PromptToken& token, const std::string& place) {
    const std::string sign = token.kind == PromptToken::Kind::kOpen           ? "#"
                             : token.kind == PromptToken::Kind::kOpenInverted ? "^"
                                                                              : "";
    const std::string tag = fmt::format("{{{{{}{}}}}}", sign, token.text);
    throw_input_error({token.where, tag + " " + place, "it elsewhere"});
  }

  std::vector<PromptToken> tokens_;
  const std::string& name_;
  std::size_t at_ = 0;
  bool in_passages_ = false, in_no_passages_ = false, in_title_ = false, in_region_ = false;
  bool in_label_ = false;
  bool has_question_ = false, has_passages_ = false;
  std::set<std::string> regions_;
};

}  // namespace

std::vector<PromptNode> parse_prompt(std::string_view text, const std::string& name) {
  return Parser(scan_prompt(text, name), name).parse();
}

std::map<std::string, std::set<std::string>> labels_of(const std::vector<PromptNode>& nodes) {
  std::map<std::string, std::set<std::string>> labels;
  for (const PromptNode& node : nodes) {
    if (node.kind == Kind::kIfLabel) labels[node.label].insert(node.text);
    for (auto& [label, values] : labels_of(node.children)) labels[label].merge(values);
  }
  return labels;
}

}  // namespace buoy::questions
