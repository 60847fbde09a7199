#include "buoy/text/chat/jinja/jinja_tests.h"

#include <map>

#include "buoy/text/chat/jinja/jinja_operators.h"
#include "buoy/text/python_text.h"

namespace buoy::text::jinja {
namespace {

void expect_no_arguments(const TestCall& call) {
  if (!call.arguments.placed.empty() || !call.arguments.named.empty())
    throw Refusal("arguments of test " + call.name);
}

std::int64_t integer_input(const TestCall& call) {
  if (call.input.undefined()) throw Refusal(*call.input.get<Undefined>()->why);
  const auto value = as_integer(call.input);
  if (!value) throw Refusal("test " + call.name + " of " + type_name(call.input));
  return *value;
}

bool is_callable(const Value& value) {
  return value.undefined() || value.is<MacroValue>() || value.is<Function>() || value.is<Method>() ||
         value.loop() != nullptr;
}

bool is_iterable(const Value& value) {
  return value.undefined() || value.is<Text>() || value.sequence() != nullptr || value.dict() != nullptr ||
         value.stream() != nullptr || value.loop() != nullptr;
}

bool is_sequence(const Value& value) {
  const auto* stream = value.stream();
  return value.undefined() || value.is<Text>() || value.sequence() != nullptr || value.dict() != nullptr ||
         (stream != nullptr && stream->kind == StreamKind::kRange);
}

template <bool (*kHolds)(const Value&)>
bool of_value(const TestCall& call) {
  expect_no_arguments(call);
  return kHolds(call.input);
}

bool compares(const TestCall& call) {
  static const std::map<std::string, std::string> operators = {
      {"eq", "=="},      {"equalto", "=="}, {"==", "=="}, {"ne", "!="}, {"!=", "!="}, {"lt", "<"},
      {"lessthan", "<"}, {"<", "<"},        {"le", "<="}, {"<=", "<="}, {"gt", ">"},  {"greaterthan", ">"},
      {">", ">"},        {"ge", ">="},      {">=", ">="}, {"in", "in"},
  };
  return compare_by(call.runtime.budget, operators.at(call.name), call.input, call.other());
}

bool is_cased(const TestCall& call) {
  expect_no_arguments(call);
  const std::string text = soft_text(call.runtime.budget, call.input);
  for (const char c : text) {
    if (static_cast<unsigned char>(c) >= 0x80)
      throw Refusal("test " + call.name + " of letters other than a to z");
  }
  const bool upper = call.name == "upper";
  bool letters = false;
  for (const char c : text) {
    const bool small = c >= 'a' && c <= 'z', capital = c >= 'A' && c <= 'Z';
    if (upper ? small : capital) return false;
    letters = letters || small || capital;
  }
  return letters;
}

bool divisible(const TestCall& call) {
  const auto by = as_integer(call.other());
  if (!by || *by == 0) throw Refusal("test divisibleby of something that is no number");
  return integer_input(call) % *by == 0;
}

bool even(const TestCall& call) {
  expect_no_arguments(call);
  return (integer_input(call) % 2 == 0) == (call.name == "even");
}

bool same(const TestCall& call) {
  const Value& other = call.other();
  const auto *a = call.input.get<bool>(), *b = other.get<bool>();
  if (a != nullptr && b != nullptr) return *a == *b;
  if (call.input.none() && other.none()) return true;
  if (type_name(call.input) != type_name(other)) return false;
  throw Refusal("test sameas of " + type_name(other));
}

bool is_true(const Value& value) {
  const auto* boolean = value.get<bool>();
  return boolean != nullptr && *boolean;
}
bool is_false(const Value& value) {
  const auto* boolean = value.get<bool>();
  return boolean != nullptr && !*boolean;
}
bool is_defined(const Value& value) {
  return !value.undefined();
}
bool is_undefined(const Value& value) {
  return value.undefined();
}
bool is_none(const Value& value) {
  return value.none();
}
bool is_boolean(const Value& value) {
  return value.is<bool>();
}
bool is_integer(const Value& value) {
  return value.is<std::int64_t>();
}
bool is_float(const Value& value) {
  return value.is<double>();
}
bool is_number(const Value& value) {
  return value.is<std::int64_t>() || value.is<double>() || value.is<bool>();
}
bool is_string(const Value& value) {
  return value.is<Text>();
}
bool is_mapping(const Value& value) {
  return value.dict() != nullptr;
}

}  // namespace

const Value& TestCall::other() const {
  if (arguments.placed.size() != 1 || !arguments.named.empty())
    throw Refusal("test " + name + " without one argument");
  return arguments.placed[0];
}

Test find_test(const std::string& name) {
  static const std::map<std::string, Test> tests = {
      {"defined", of_value<is_defined>},
      {"undefined", of_value<is_undefined>},
      {"none", of_value<is_none>},
      {"boolean", of_value<is_boolean>},
      {"true", of_value<is_true>},
      {"false", of_value<is_false>},
      {"integer", of_value<is_integer>},
      {"float", of_value<is_float>},
      {"number", of_value<is_number>},
      {"string", of_value<is_string>},
      {"mapping", of_value<is_mapping>},
      {"iterable", of_value<is_iterable>},
      {"sequence", of_value<is_sequence>},
      {"callable", of_value<is_callable>},
      {"eq", compares},
      {"equalto", compares},
      {"==", compares},
      {"ne", compares},
      {"!=", compares},
      {"lt", compares},
      {"lessthan", compares},
      {"<", compares},
      {"le", compares},
      {"<=", compares},
      {"gt", compares},
      {"greaterthan", compares},
      {">", compares},
      {"ge", compares},
      {">=", compares},
      {"in", compares},
      {"upper", is_cased},
      {"lower", is_cased},
      {"divisibleby", divisible},
      {"even", even},
      {"odd", even},
      {"sameas", same},
  };
  const auto found = tests.find(name);
  return found == tests.end() ? nullptr : found->second;
}

}  // namespace buoy::text::jinja
