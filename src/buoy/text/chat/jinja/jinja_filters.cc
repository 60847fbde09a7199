#include "buoy/text/chat/jinja/jinja_filters.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "buoy/text/chat/jinja/jinja_attributes.h"
#include "buoy/text/chat/jinja/jinja_format.h"
#include "buoy/text/chat/jinja/jinja_operators.h"
#include "buoy/text/code_points.h"
#include "buoy/text/python_text.h"

namespace buoy::text::jinja {
namespace {

std::int64_t integer_or(const FilterCall& call, const Value* given, std::int64_t otherwise) {
  if (given == nullptr) return otherwise;
  const auto value = as_integer(*given);
  if (!value) throw Refusal(fmt::format("filter {} with a number of type {}", call.name, type_name(*given)));
  return *value;
}

Value text_of(const FilterCall& call, std::string bytes) {
  return make_text(call.runtime.budget, std::move(bytes));
}

// A method of the input as text.
Value by_method(const FilterCall& call) {
  const std::string method = call.name == "trim" ? "strip" : call.name;
  Arguments arguments;
  if (call.name == "trim") {
    const auto given = call.bind({"chars"});
    if (given[0] != nullptr) arguments.placed.push_back(*given[0]);
  } else {
    call.bind({});
  }
  return call_text_method(call.runtime, soft_text(call.runtime.budget, call.input), method, arguments);
}

Value title(const FilterCall& call) {
  call.bind({});
  const std::string text = soft_text(call.runtime.budget, call.input);
  std::string out;
  bool beginning = true;
  for (const std::string_view character : characters_of(text)) {
    const auto cased = beginning ? upper_case(character) : lower_case(character);
    if (!cased) throw Refusal("filter title of a letter whose case Buoy does not know");
    const bool separator = is_python_space(code_point_at(character, 0).value) ||
                           std::string_view("-({[<").find(character) != std::string_view::npos;
    out += separator ? character : std::string_view(*cased);
    beginning = separator;
  }
  return text_of(call, std::move(out));
}

Value to_string(const FilterCall& call) {
  call.bind({});
  return call.input.is<Text>() ? call.input : text_of(call, printed(call.runtime.budget, call.input));
}

Value safe(const FilterCall& call) {
  call.bind({});
  return Value(Text{std::make_shared<const std::string>(printed(call.runtime.budget, call.input)), true});
}

Value replace(const FilterCall& call) {
  const auto given = call.bind({"old", "new", "count"});
  if (given[0] == nullptr || given[1] == nullptr) throw Refusal("filter replace without two texts");
  Budget& budget = call.runtime.budget;
  const std::string text = soft_text(budget, call.input), old = soft_text(budget, *given[0]),
                    with = soft_text(budget, *given[1]);
  const std::size_t places = old.empty() ? text.size() + 1 : text.size() / old.size();
  budget.spend_bytes(text.size() + places * with.size());
  const bool all = given[2] == nullptr || given[2]->none();
  return text_of(call, replace_all(text, old, with, all ? -1 : integer_or(call, given[2], -1)));
}

Value indent(const FilterCall& call) {
  const auto given = call.bind({"width", "first", "blank"});
  Budget& budget = call.runtime.budget;
  std::string margin;
  if (given[0] != nullptr && given[0]->is<Text>()) {
    margin = plain_text(*given[0]);
  } else {
    const std::int64_t width = integer_or(call, given[0], 4);
    budget.spend_bytes(static_cast<std::uint64_t>(std::max<std::int64_t>(width, 0)));
    margin.assign(static_cast<std::size_t>(std::max<std::int64_t>(width, 0)), ' ');
  }
  const bool first = given[1] != nullptr && truth(*given[1]), blank = given[2] != nullptr && truth(*given[2]);
  const std::string text = plain_text(call.input) + "\n";
  std::string out = first ? margin : "";
  const auto lines = split_lines(text, false);
  budget.spend_bytes(lines.size() * (margin.size() + 1));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) out += '\n';
    if (i > 0 && (blank || !lines[i].empty())) out += margin;
    out += lines[i];
  }
  return text_of(call, std::move(out));
}

Value format(const FilterCall& call) {
  if (!call.arguments.named.empty()) throw Refusal("filter format with names, which Buoy does not know");
  return text_of(call, percent_format(call.runtime.budget, soft_text(call.runtime.budget, call.input),
                                      call.arguments.placed));
}

Value to_json(const FilterCall& call) {
  const auto given = call.bind({"ensure_ascii", "indent", "separators", "sort_keys"});
  JsonRule rule;
  rule.ensure_ascii = given[0] != nullptr && truth(*given[0]);
  rule.sort_keys = given[3] != nullptr && truth(*given[3]);
  if (given[1] != nullptr && !given[1]->none()) {
    rule.indented = true;
    rule.item_separator = ",";
    if (given[1]->is<Text>()) {
      rule.indent = plain_text(*given[1]);
    } else {
      const std::int64_t width = std::max<std::int64_t>(integer_or(call, given[1], 0), 0);
      call.runtime.budget.spend_bytes(static_cast<std::uint64_t>(width));
      rule.indent.assign(static_cast<std::size_t>(width), ' ');
    }
  }
  if (given[2] != nullptr && !given[2]->none()) {
    const auto* pair = given[2]->sequence();
    if (pair == nullptr || pair->items.size() != 2)
      throw Refusal("filter tojson with separators that are no pair");
    rule.item_separator = plain_text(pair->items[0]);
    rule.key_separator = plain_text(pair->items[1]);
  }
  return text_of(call, json_text(call.runtime.budget, call.input, rule));
}

// The number that a text is, as Python reads it; nothing when it is none.
std::optional<double> number_of_text(const std::string& text) {
  const std::string_view digits = strip(text, std::nullopt, {});
  if (digits.find('_') != std::string_view::npos ||
      std::any_of(digits.begin(), digits.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; }))
    throw Refusal("a number in a text with digits Buoy does not know");
  std::string word = *lower_case(digits);
  if (word.starts_with('+') || word.starts_with('-')) word.erase(0, 1);
  if (word == "inf" || word == "infinity" || word == "nan") throw Refusal("the number " + word);
  if (word.find_first_not_of("+-.0123456789e") != std::string::npos) return std::nullopt;
  double value = 0;
  const char* begin = digits.data() + (digits.starts_with('+') ? 1 : 0);
  const char* end = digits.data() + digits.size();
  const auto [stopped, error] = std::from_chars(begin, end, value);
  if (begin == end || stopped != end || error == std::errc::invalid_argument) return std::nullopt;
  if (error != std::errc()) throw Refusal("the number " + std::string(digits));
  if (digits.starts_with("+-")) return std::nullopt;
  return value;
}

Value to_int(const FilterCall& call) {
  const auto given = call.bind({"default", "base"});
  if (given[1] != nullptr && integer_or(call, given[1], 10) != 10)
    throw Refusal("filter int with another base");
  const Value otherwise = given[0] != nullptr ? *given[0] : Value(std::int64_t{0});
  if (call.input.undefined()) throw Refusal(*call.input.get<Undefined>()->why);
  if (const auto integer = as_integer(call.input)) return Value(*integer);
  std::optional<double> number = as_number(call.input);
  if (const auto* text = call.input.text()) {
    const std::string_view digits = strip(*text, std::nullopt, {});
    std::int64_t integer = 0;
    const char* begin = digits.data() + (digits.starts_with('+') && !digits.starts_with("+-") ? 1 : 0);
    const char* end = digits.data() + digits.size();
    const auto [stopped, error] = std::from_chars(begin, end, integer);
    if (stopped == end && error == std::errc() && begin != end) return Value(integer);
    number = number_of_text(*text);
  }
  if (!number || !std::isfinite(*number)) return otherwise;
  if (std::fabs(*number) > 9e18) throw Refusal("an integer of more than 64 bits");
  return Value(static_cast<std::int64_t>(*number));
}

Value to_float(const FilterCall& call) {
  const auto given = call.bind({"default"});
  if (call.input.undefined()) throw Refusal(*call.input.get<Undefined>()->why);
  std::optional<double> number = as_number(call.input);
  if (const auto* text = call.input.text()) number = number_of_text(*text);
  if (number) return Value(*number);
  return given[0] != nullptr ? *given[0] : Value(0.0);
}

Value absolute(const FilterCall& call) {
  call.bind({});
  const auto number = as_number(call.input);
  if (!number) throw Refusal("filter abs of " + type_name(call.input));
  return *number < 0               ? negative(call.input)
         : call.input.is<double>() ? Value(std::fabs(*number))
                                   : Value(*as_integer(call.input));
}

Value rounded(const FilterCall& call) {
  const auto given = call.bind({"precision", "method"});
  if (given[1] != nullptr && plain_text(*given[1]) != "common")
    throw Refusal("filter round by another method");
  const std::int64_t precision = integer_or(call, given[0], 0);
  if (precision < 0 || precision > 300) throw Refusal("filter round to another precision");
  if (const auto integer = as_integer(call.input)) return Value(*integer);
  const auto* number = call.input.get<double>();
  if (number == nullptr) throw Refusal("filter round of " + type_name(call.input));
  if (!std::isfinite(*number)) return call.input;
  return Value(std::stod(fmt::format("{:.{}f}", *number, precision)));
}

Value defaulted(const FilterCall& call) {
  const auto given = call.bind({"default_value", "boolean"});
  const bool replaced =
      call.input.undefined() || (given[1] != nullptr && truth(*given[1]) && !truth(call.input));
  if (!replaced) return call.input;
  return given[0] != nullptr ? *given[0] : text_of(call, "");
}

}  // namespace

Filter find_text_filter(const std::string& name) {
  static const std::map<std::string, Filter> filters = {
      {"trim", by_method}, {"upper", by_method},  {"lower", by_method}, {"capitalize", by_method},
      {"title", title},    {"string", to_string}, {"safe", safe},       {"replace", replace},
      {"indent", indent},  {"format", format},    {"tojson", to_json},  {"int", to_int},
      {"float", to_float}, {"abs", absolute},     {"round", rounded},   {"default", defaulted},
      {"d", defaulted},
  };
  const auto found = filters.find(name);
  return found == filters.end() ? nullptr : found->second;
}

Filter find_filter(const std::string& name) {
  const Filter text = find_text_filter(name);
  return text != nullptr ? text : find_item_filter(name);
}

}  // namespace buoy::text::jinja
