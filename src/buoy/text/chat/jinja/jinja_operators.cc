#include "buoy/text/chat/jinja/jinja_operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "buoy/text/chat/jinja/jinja_format.h"
#include "buoy/text/python_text.h"

namespace buoy::text::jinja {
namespace {

[[noreturn]] void refuse_operands(const std::string& name, const Value& left, const Value& right) {
  for (const Value* side : {&left, &right}) {
    if (side->undefined()) throw Refusal(*side->get<Undefined>()->why);
  }
  throw Refusal(fmt::format("{} between {} and {}", name, type_name(left), type_name(right)));
}

void refuse_overflow(bool overflow) {
  if (overflow) throw Refusal("an integer of more than 64 bits");
}

std::int64_t floor_divided(std::int64_t a, std::int64_t b) {
  if (b == -1) {
    refuse_overflow(a == INT64_MIN);
    return -a;
  }
  const std::int64_t quotient = a / b;
  return quotient - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}

std::int64_t integer_power(std::int64_t base, std::int64_t exponent) {
  if (exponent == 0 || base == 1) return 1;
  if (base == 0) return 0;
  if (base == -1) return exponent % 2 == 0 ? 1 : -1;
  std::int64_t out = 1;
  for (; exponent > 0; --exponent) refuse_overflow(__builtin_mul_overflow(out, base, &out));
  return out;
}

double finite(double value) {
  if (!std::isfinite(value)) throw Refusal("a number that is too large");
  return value;
}

Value integer_arithmetic(const std::string& name, std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  if (name == "+" || name == "-" || name == "*") {
    refuse_overflow(name == "+"   ? __builtin_add_overflow(a, b, &out)
                    : name == "-" ? __builtin_sub_overflow(a, b, &out)
                                  : __builtin_mul_overflow(a, b, &out));
    return Value(out);
  }
  if (name == "**") {
    if (b < 0) return Value(finite(std::pow(static_cast<double>(a), static_cast<double>(b))));
    return Value(integer_power(a, b));
  }
  if (b == 0) throw Refusal("a division by zero");
  if (name == "/") return Value(*as_number(Value(a)) / *as_number(Value(b)));
  if (name == "//") return Value(floor_divided(a, b));
  return Value(b == -1 ? std::int64_t{0} : a - floor_divided(a, b) * b);
}

Value float_arithmetic(const std::string& name, double a, double b) {
  if (name == "+") return Value(a + b);
  if (name == "-") return Value(a - b);
  if (name == "*") return Value(a * b);
  if (name == "**") return Value(finite(std::pow(a, b)));
  if (b == 0) throw Refusal("a division by zero");
  if (name == "/") return Value(a / b);
  double remainder = std::fmod(a, b);
  if (remainder != 0 && (remainder < 0) != (b < 0)) remainder += b;
  if (name == "%") return Value(remainder == 0 ? std::copysign(0.0, b) : remainder);
  const double exact = (a - remainder) / b;
  if (exact == 0) return Value(std::copysign(0.0, a / b));
  return Value(exact - std::floor(exact) > 0.5 ? std::floor(exact) + 1 : std::floor(exact));
}

Value repeated(Budget& budget, const Value& value, std::int64_t times) {
  const auto count = static_cast<std::size_t>(std::max<std::int64_t>(times, 0));
  if (value.is<Text>()) {
    const std::string& text = plain_text(value);
    if (text.empty()) return value;
    budget.spend_bytes(count > (std::size_t{1} << 40) / text.size() ? std::size_t{1} << 40
                                                                    : count * text.size());
    std::string out;
    for (std::size_t i = 0; i < count; ++i) out += text;
    return make_text(budget, std::move(out));
  }
  const auto& items = value.sequence()->items;
  Values out;
  if (items.empty()) return value;
  budget.spend_bytes(count > (std::size_t{1} << 40) / items.size() ? std::size_t{1} << 40
                                                                   : count * items.size() * 16);
  for (std::size_t i = 0; i < count; ++i) out.insert(out.end(), items.begin(), items.end());
  return value.sequence()->tuple ? make_tuple(budget, std::move(out)) : make_list(budget, std::move(out));
}

int sign_of(double difference) {
  return difference < 0 ? -1 : difference > 0 ? 1 : 0;
}

}  // namespace

std::optional<std::int64_t> as_integer(const Value& value) {
  if (const auto* integer = value.get<std::int64_t>()) return *integer;
  if (const auto* boolean = value.get<bool>()) return *boolean ? 1 : 0;
  return std::nullopt;
}

std::optional<double> as_number(const Value& value) {
  if (const auto* number = value.get<double>()) return *number;
  const auto integer = as_integer(value);
  if (!integer) return std::nullopt;
  constexpr std::int64_t kExact = std::int64_t{1} << 53;
  if (*integer > kExact || *integer < -kExact) throw Refusal("an integer too large to be used as a float");
  return static_cast<double>(*integer);
}

bool truth(const Value& value) {
  if (value.undefined() || value.none()) return false;
  if (const auto integer = as_integer(value)) return *integer != 0;
  if (const auto* number = value.get<double>()) return *number != 0;
  if (const auto* text = value.text()) return !text->empty();
  if (const auto* sequence = value.sequence()) return !sequence->items.empty();
  if (const auto* dict = value.dict()) return !dict->entries.empty();
  if (const auto* stream = value.stream())
    return stream->kind == StreamKind::kGenerator || !stream->items.empty();
  return true;
}

bool equal(Budget& budget, const Value& left, const Value& right) {
  budget.spend_steps();
  if (const auto a = as_integer(left), b = as_integer(right); a && b) return *a == *b;
  if (const auto a = as_number(left), b = as_number(right); a && b) return *a == *b;
  if (left.text() != nullptr && right.text() != nullptr) {
    budget.spend_steps(left.text()->size() / 64);
    return *left.text() == *right.text();
  }
  if (left.undefined() && right.undefined()) return true;
  if (left.none() && right.none()) return true;
  if (const auto* a = left.sequence(), *b = right.sequence(); a != nullptr && b != nullptr) {
    if (a->tuple != b->tuple || a->items.size() != b->items.size()) return false;
    for (std::size_t i = 0; i < a->items.size(); ++i) {
      if (!equal(budget, a->items[i], b->items[i])) return false;
    }
    return true;
  }
  if (const auto* a = left.dict(), *b = right.dict(); a != nullptr && b != nullptr) {
    if (a->entries.size() != b->entries.size()) return false;
    for (const auto& [key, value] : a->entries) {
      const Value* other = find_key(budget, *b, key);
      if (other == nullptr || !equal(budget, value, *other)) return false;
    }
    return true;
  }
  if (left.stream() != nullptr && right.stream() != nullptr && left.stream() != right.stream())
    throw Refusal("a comparison of " + type_name(left) + " values");
  if (left.is<MacroValue>() || left.is<Function>() || left.is<Method>()) {
    if (type_name(left) == type_name(right)) throw Refusal("a comparison of functions");
    return false;
  }
  if (left.stream() != nullptr) return left.stream() == right.stream();
  if (left.name_space() != nullptr) return left.name_space() == right.name_space();
  if (left.loop() != nullptr) return left.loop() == right.loop();
  return false;
}

int compare(Budget& budget, const Value& left, const Value& right) {
  budget.spend_steps();
  if (const auto a = as_integer(left), b = as_integer(right); a && b) return *a < *b ? -1 : *a > *b ? 1 : 0;
  if (const auto a = as_number(left), b = as_number(right); a && b) {
    if (std::isnan(*a) || std::isnan(*b)) throw Refusal("a comparison with a number that is none");
    return sign_of(*a - *b);
  }
  if (left.text() != nullptr && right.text() != nullptr) return left.text()->compare(*right.text());
  const auto *a = left.sequence(), *b = right.sequence();
  if (a != nullptr && b != nullptr && a->tuple == b->tuple) {
    for (std::size_t i = 0; i < std::min(a->items.size(), b->items.size()); ++i) {
      if (!equal(budget, a->items[i], b->items[i])) return compare(budget, a->items[i], b->items[i]);
    }
    return sign_of(static_cast<double>(a->items.size()) - static_cast<double>(b->items.size()));
  }
  refuse_operands("an order", left, right);
}

bool contains(Budget& budget, const Value& container, const Value& item) {
  if (const auto* text = container.text()) {
    if (item.text() == nullptr) refuse_operands("\"in\"", item, container);
    budget.spend_steps(1 + text->size() / 64);
    return find_bytes(*text, *item.text(), 0) != std::string::npos;
  }
  if (const auto* dict = container.dict()) return find_key(budget, *dict, item) != nullptr;
  if (const auto* stream = container.stream(); stream != nullptr && stream->kind == StreamKind::kGenerator) {
    throw Refusal("\"in\" a generator, which Buoy does not know");
  }
  const Values items = items_of(budget, container);
  return std::any_of(items.begin(), items.end(),
                     [&](const Value& known) { return equal(budget, known, item); });
}

bool compare_by(Budget& budget, const std::string& name, const Value& left, const Value& right) {
  if (name == "==") return equal(budget, left, right);
  if (name == "!=") return !equal(budget, left, right);
  if (name == "in") return contains(budget, right, left);
  if (name == "not in") return !contains(budget, right, left);
  const int order = compare(budget, left, right);
  if (name == "<") return order < 0;
  if (name == "<=") return order <= 0;
  if (name == ">") return order > 0;
  return order >= 0;
}

Value arithmetic(Budget& budget, const std::string& name, const Value& left, const Value& right) {
  if (const auto a = as_integer(left), b = as_integer(right); a && b) return integer_arithmetic(name, *a, *b);
  if (const auto a = as_number(left), b = as_number(right); a && b) return float_arithmetic(name, *a, *b);
  if (name == "+") {
    if (left.is<Text>() && right.is<Text>()) return make_text(budget, plain_text(left) + plain_text(right));
    const auto *a = left.sequence(), *b = right.sequence();
    if (a != nullptr && b != nullptr && a->tuple == b->tuple) {
      Values items = a->items;
      items.insert(items.end(), b->items.begin(), b->items.end());
      return a->tuple ? make_tuple(budget, std::move(items)) : make_list(budget, std::move(items));
    }
  }
  if (name == "*") {
    const bool left_repeats = left.is<Text>() || left.sequence() != nullptr;
    const bool right_repeats = right.is<Text>() || right.sequence() != nullptr;
    if (const auto times = as_integer(right); times && left_repeats) return repeated(budget, left, *times);
    if (const auto times = as_integer(left); times && right_repeats) return repeated(budget, right, *times);
  }
  if (name == "%" && left.is<Text>()) {
    const auto* tuple = right.sequence();
    return make_text(budget, percent_format(budget, plain_text(left),
                                            tuple != nullptr && tuple->tuple ? tuple->items : Values{right}));
  }
  refuse_operands("\"" + name + "\"", left, right);
}

Value negative(const Value& value) {
  if (const auto integer = as_integer(value)) {
    refuse_overflow(*integer == INT64_MIN);
    return Value(-*integer);
  }
  if (const auto* number = value.get<double>()) return Value(-*number);
  if (value.undefined()) throw Refusal(*value.get<Undefined>()->why);
  throw Refusal("\"-\" of " + type_name(value));
}

bool flag(const Value& value) {
  const auto integer = as_integer(value);
  if (!integer) throw Refusal(type_name(value) + " where true or false should be");
  return *integer != 0;
}

std::size_t length_of(const Value& value) {
  if (value.undefined()) return 0;
  if (const auto* text = value.text()) return count_characters(*text);
  if (const auto* sequence = value.sequence()) return sequence->items.size();
  if (const auto* dict = value.dict()) return dict->entries.size();
  if (const auto* stream = value.stream(); stream != nullptr && stream->kind != StreamKind::kGenerator)
    return stream->items.size();
  if (const auto* loop = value.loop()) return loop->items.size();
  throw Refusal("the length of " + type_name(value));
}

Values items_of(Budget& budget, const Value& value) {
  if (value.undefined()) return {};
  Values items;
  if (const auto* text = value.text()) {
    for (const std::string_view character : characters_of(plain_text(value)))
      items.push_back(make_text(budget, std::string(character)));
    budget.spend_bytes(text->size());
    return items;
  }
  if (const auto* sequence = value.sequence()) {
    items = sequence->items;
  } else if (const auto* dict = value.dict()) {
    for (const auto& [key, held] : dict->entries) items.push_back(key);
  } else if (auto* stream = value.stream()) {
    items.assign(stream->items.begin() + static_cast<std::ptrdiff_t>(stream->next), stream->items.end());
    if (stream->kind == StreamKind::kGenerator) stream->next = stream->items.size();
  } else {
    throw Refusal("the items of " + type_name(value));
  }
  budget.spend_bytes(items.size() * sizeof(Value));
  return items;
}

const std::string& plain_text(const Value& value) {
  const Text* text = value.get<Text>();
  if (text == nullptr) {
    if (value.undefined()) throw Refusal(*value.get<Undefined>()->why);
    throw Refusal(type_name(value) + " where text should be");
  }
  if (text->markup) throw Refusal("text changed after filter safe, which Buoy does not know");
  return *text->bytes;
}

std::string soft_text(Budget& budget, const Value& value) {
  return value.is<Text>() ? plain_text(value) : printed(budget, value);
}

}  // namespace buoy::text::jinja
