#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "buoy/text/chat/jinja/jinja_attributes.h"
#include "buoy/text/chat/jinja/jinja_format.h"
#include "buoy/text/chat/jinja/jinja_operators.h"
#include "buoy/text/python_text.h"

namespace buoy::text::jinja {
namespace {

struct TextCall {
  Runtime& runtime;
  const std::string& text;
  const std::string& name;
  const Arguments& arguments;

  std::vector<const Value*> bind(std::initializer_list<std::string_view> parameters) const {
    return arguments.bind(name, parameters);
  }
  const std::string& required(const Value* given) const {
    if (given == nullptr) throw Refusal(name + " without an argument");
    return plain_text(*given);
  }
  Value text_value(std::string bytes) const { return make_text(runtime.budget, std::move(bytes)); }
};

std::int64_t integer(const TextCall& call, const Value* given, std::int64_t otherwise) {
  if (given == nullptr) return otherwise;
  const auto value = as_integer(*given);
  if (!value) throw Refusal(call.name + " with a number of type " + type_name(*given));
  return *value;
}

Value strip_method(const TextCall& call) {
  const auto given = call.bind({"chars"});
  std::optional<std::string_view> characters;
  if (given[0] != nullptr && !given[0]->none()) characters = plain_text(*given[0]);
  call.runtime.budget.spend_steps(1 + call.text.size() / 64 * (characters ? 1 + characters->size() / 8 : 1));
  return call.text_value(
      std::string(strip(call.text, characters, {call.name != "rstrip", call.name != "lstrip"})));
}

Value split_method(const TextCall& call) {
  const auto given = call.bind({"sep", "maxsplit"});
  SplitRule rule;
  if (given[0] != nullptr && !given[0]->none()) {
    rule.separator = plain_text(*given[0]);
    if (rule.separator->empty()) throw Refusal("split at an empty text");
  }
  rule.most = integer(call, given[1], -1);
  rule.from_right = call.name == "rsplit";
  const std::size_t cost = rule.from_right && rule.separator ? call.text.size() * rule.separator->size() : 0;
  call.runtime.budget.spend_steps(1 + (cost + call.text.size()) / 64);
  Values parts;
  for (const std::string_view part : split(call.text, rule))
    parts.push_back(call.text_value(std::string(part)));
  return make_list(call.runtime.budget, std::move(parts));
}

Value split_lines_method(const TextCall& call) {
  const auto given = call.bind({"keepends"});
  Values lines;
  for (const std::string_view line : split_lines(call.text, given[0] != nullptr && flag(*given[0])))
    lines.push_back(call.text_value(std::string(line)));
  return make_list(call.runtime.budget, std::move(lines));
}

Value ends_method(const TextCall& call) {
  const auto given = call.bind({"prefix"});
  if (given[0] == nullptr) throw Refusal(call.name + " without an argument");
  const auto holds = [&](const Value& part) {
    const std::string& text = plain_text(part);
    return call.name == "startswith" ? call.text.starts_with(text) : call.text.ends_with(text);
  };
  const auto* several = given[0]->sequence();
  if (several == nullptr || !several->tuple) return Value(holds(*given[0]));
  return Value(std::any_of(several->items.begin(), several->items.end(), holds));
}

Value remove_method(const TextCall& call) {
  const std::string& part = call.required(call.bind({"part"})[0]);
  const bool prefix = call.name == "removeprefix";
  if (part.empty() || !(prefix ? call.text.starts_with(part) : call.text.ends_with(part)))
    return call.text_value(call.text);
  return call.text_value(prefix ? call.text.substr(part.size())
                                : call.text.substr(0, call.text.size() - part.size()));
}

Value replace_method(const TextCall& call) {
  const auto given = call.bind({"old", "new", "count"});
  const std::string &old = call.required(given[0]), &with = call.required(given[1]);
  const std::size_t places = old.empty() ? call.text.size() + 1 : call.text.size() / old.size();
  call.runtime.budget.spend_bytes(call.text.size() + places * with.size());
  return call.text_value(replace_all(call.text, old, with, integer(call, given[2], -1)));
}

Value join_method(const TextCall& call) {
  const auto given = call.bind({"iterable"});
  if (given[0] == nullptr) throw Refusal("join without an argument");
  std::string out;
  bool first = true;
  for (const Value& item : items_of(call.runtime.budget, *given[0])) {
    if (!first) out += call.text;
    first = false;
    out += plain_text(item);
    call.runtime.budget.spend_bytes(call.text.size() + plain_text(item).size());
  }
  return call.text_value(std::move(out));
}

Value find_method(const TextCall& call) {
  const std::string& part = call.required(call.bind({"sub"})[0]);
  const bool last = call.name == "rfind";
  call.runtime.budget.spend_steps(1 + (last ? call.text.size() * (1 + part.size()) : call.text.size()) / 64);
  const std::size_t at = last ? call.text.rfind(part) : find_bytes(call.text, part, 0);
  if (at == std::string::npos) {
    if (call.name == "index") throw Refusal("index of a text that is not there");
    return Value(std::int64_t{-1});
  }
  return Value(static_cast<std::int64_t>(count_characters(std::string_view(call.text).substr(0, at))));
}

Value count_method(const TextCall& call) {
  const std::string& part = call.required(call.bind({"sub"})[0]);
  if (part.empty()) return Value(static_cast<std::int64_t>(count_characters(call.text)) + 1);
  return Value(static_cast<std::int64_t>(split(call.text, {.separator = part}).size()) - 1);
}

std::string cased(const std::string& name, std::string_view text, bool upper) {
  auto out = upper ? upper_case(text) : lower_case(text);
  if (!out) throw Refusal(name + " of a letter whose case Buoy does not know");
  return *std::move(out);
}

Value case_method(const TextCall& call) {
  call.bind({});
  if (call.name != "capitalize") return call.text_value(cased(call.name, call.text, call.name == "upper"));
  const std::size_t first = byte_of_character(call.text, 1);
  return call.text_value(cased(call.name, std::string_view(call.text).substr(0, first), true) +
                         cased(call.name, std::string_view(call.text).substr(first), false));
}

// Python's title(): every letter behind one that is none becomes a capital. ASCII alone.
Value title_method(const TextCall& call) {
  call.bind({});
  std::string out;
  bool inside = false;
  for (const char c : call.text) {
    if (static_cast<unsigned char>(c) >= 0x80) throw Refusal("title of letters other than a to z");
    const bool small = c >= 'a' && c <= 'z', capital = c >= 'A' && c <= 'Z';
    out += small && !inside ? static_cast<char>(c - 32) : capital && inside ? static_cast<char>(c + 32) : c;
    inside = small || capital;
  }
  return call.text_value(std::move(out));
}

Value format_method(const TextCall& call) {
  return call.text_value(
      brace_format(call.runtime.budget, call.text, call.arguments.placed, call.arguments.named));
}

using TextMethod = Value (*)(const TextCall&);

const std::map<std::string, TextMethod>& text_methods() {
  static const std::map<std::string, TextMethod> methods = {
      {"strip", strip_method},         {"lstrip", strip_method},    {"rstrip", strip_method},
      {"split", split_method},         {"rsplit", split_method},    {"splitlines", split_lines_method},
      {"startswith", ends_method},     {"endswith", ends_method},   {"removeprefix", remove_method},
      {"removesuffix", remove_method}, {"replace", replace_method}, {"join", join_method},
      {"find", find_method},           {"rfind", find_method},      {"index", find_method},
      {"count", count_method},         {"upper", case_method},      {"lower", case_method},
      {"capitalize", case_method},     {"title", title_method},     {"format", format_method},
  };
  return methods;
}

}  // namespace

bool is_text_method(const std::string& name) {
  return text_methods().contains(name);
}

Value call_text_method(Runtime& runtime, const std::string& text, const std::string& name,
                       const Arguments& arguments) {
  const bool takes_names = name == "split" || name == "rsplit" || name == "splitlines" || name == "format";
  if (!takes_names && !arguments.named.empty()) throw Refusal("arguments by name for " + name);
  return text_methods().at(name)({runtime, text, name, arguments});
}

}  // namespace buoy::text::jinja
