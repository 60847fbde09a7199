#include "buoy/text/tokenizer/text_steps_json.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <utility>

#include "buoy/text/tokenizer/json_fields.h"

namespace buoy::text {
namespace {

using When = PrependText::When;

// The pattern that ByteLevel has built in.
constexpr std::string_view kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
// Of Digits: the general categories Nd, Nl and No.
constexpr std::string_view kDigit = R"(\p{N})";

TextStep parse_normalizer_step(const JsonObject& part) {
  const std::string type = part.required_text("type");
  if (type == "NFC") return NormalFormC{};
  if (type == "Prepend") return PrependText{required_short_text(part, "prepend"), When::kAlways};
  if (type == "Replace") {
    const auto [from, to] = parse_replacement(part);
    return ReplaceText{from, to};
  }
  part.fail("type", "\"NFC\", \"Prepend\", \"Replace\" or a \"Sequence\" of them");
}

SplitBehavior parse_behavior(const JsonObject& split) {
  static constexpr std::pair<std::string_view, SplitBehavior> kBehaviors[] = {
      {"Isolated", SplitBehavior::kIsolated},
      {"Removed", SplitBehavior::kRemoved},
      {"MergedWithPrevious", SplitBehavior::kMergedWithPrevious},
      {"MergedWithNext", SplitBehavior::kMergedWithNext},
      {"Contiguous", SplitBehavior::kContiguous},
  };
  const std::string name = split.required_text("behavior");
  for (const auto& [known, behavior] : kBehaviors) {
    if (name == known) return behavior;
  }
  split.fail("behavior",
             "\"Isolated\", \"Removed\", \"MergedWithPrevious\", \"MergedWithNext\" or \"Contiguous\"");
}

Pattern parse_pattern(const JsonObject& split) {
  const JsonObject pattern = required_object(split, "pattern");
  if (pattern.has("String")) return Pattern::literal(required_short_text(pattern, "String"));
  return Pattern::expression(pattern.required_text("Regex"), pattern.name() + ": Regex");
}

void add_byte_level(const JsonObject& part, TextSteps& steps) {
  if (required_boolean(part, "add_prefix_space")) steps.push_back(PrependText{" ", When::kUnlessThere});
  if (!part.boolean("use_regex").value_or(true)) return;
  steps.push_back(Splitter(Pattern::expression(kGpt2Pattern, part.name()), SplitBehavior::kIsolated));
}

void add_metaspace(const JsonObject& part, TextSteps& steps) {
  const std::string replacement = required_character(part, "replacement");
  steps.push_back(ReplaceText{" ", replacement});
  const PrependScheme scheme = parse_prepend_scheme(part);
  if (scheme == PrependScheme::kAlways) steps.push_back(PrependText{replacement, When::kUnlessThere});
  if (scheme == PrependScheme::kFirst)
    steps.push_back(PrependText{replacement, When::kUnlessThereAtTextBegin});
  if (part.boolean("split").value_or(true))
    steps.push_back(Splitter(Pattern::literal(replacement), SplitBehavior::kMergedWithNext));
}

void add_step(const JsonObject& part, TextSteps& steps) {
  const std::string type = part.required_text("type");
  if (type == "Split") {
    steps.push_back(
        Splitter(parse_pattern(part), parse_behavior(part), part.boolean("invert").value_or(false)));
  } else if (type == "Digits") {
    steps.push_back(Splitter(Pattern::expression(kDigit, part.name()),
                             part.boolean("individual_digits").value_or(false) ? SplitBehavior::kIsolated
                                                                               : SplitBehavior::kContiguous));
  } else if (type == "ByteLevel") {
    add_byte_level(part, steps);
  } else if (type == "Metaspace") {
    add_metaspace(part, steps);
  } else {
    part.fail("type", "\"Split\", \"Digits\", \"ByteLevel\", \"Metaspace\" or a \"Sequence\" of them");
  }
}

}  // namespace

TextSteps parse_normalizer(const JsonObject& file) {
  TextSteps steps;
  const auto normalizer = file.object("normalizer");
  if (!normalizer) return steps;
  for (const JsonObject& part : members_of(*normalizer, "normalizers"))
    steps.push_back(parse_normalizer_step(part));
  return steps;
}

PreTokenizer parse_pre_tokenizer(const JsonObject& file) {
  PreTokenizer result;
  const auto field = file.object("pre_tokenizer");
  if (!field) return result;
  for (const JsonObject& part : members_of(*field, "pretokenizers")) {
    if (result.alphabet == Alphabet::kBytes) part.fail("type", "nothing behind ByteLevel");
    add_step(part, result.steps);
    if (part.required_text("type") == "ByteLevel") result.alphabet = Alphabet::kBytes;
  }
  return result;
}

}  // namespace buoy::text
