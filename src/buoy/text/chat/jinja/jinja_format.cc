#include "buoy/text/chat/jinja/jinja_format.h"

#include <fmt/format.h>

#include "buoy/text/chat/jinja/jinja_operators.h"
#include "buoy/text/python_text.h"

namespace buoy::text::jinja {
namespace {

const Value& value_at(const Values& values, std::size_t index) {
  if (index >= values.size()) throw Refusal("a format with more places than values");
  return values[index];
}

}  // namespace

std::string percent_format(Budget& budget, std::string_view format, const Values& values) {
  std::string out;
  std::size_t used = 0;
  for (std::size_t at = 0; at < format.size(); ++at) {
    if (format[at] != '%') {
      out += format[at];
      continue;
    }
    const char kind = ++at < format.size() ? format[at] : '\0';
    if (kind == '%') {
      out += '%';
    } else if (kind == 's') {
      out += printed(budget, value_at(values, used++));
    } else if (kind == 'd' || kind == 'i') {
      const auto integer = as_integer(value_at(values, used++));
      if (!integer) throw Refusal("a format of a number with something else");
      out += std::to_string(*integer);
    } else {
      throw Refusal(kind == '\0' ? std::string("a format that ends with %")
                                 : fmt::format("format %{}, which Buoy does not know", kind));
    }
    budget.spend_bytes(out.size() / 16 + 1);
  }
  if (used < values.size()) throw Refusal("a format with fewer places than values");
  return out;
}

std::string brace_format(Budget& budget, std::string_view format, const Values& values,
                         const std::vector<std::pair<std::string, Value>>& named) {
  std::string out;
  std::size_t next = 0;
  bool numbered = false;
  for (std::size_t at = 0; at < format.size(); ++at) {
    const char c = format[at];
    if (c != '{' && c != '}') {
      out += c;
      continue;
    }
    if (at + 1 < format.size() && format[at + 1] == c) {
      out += c;
      ++at;
      continue;
    }
    const std::size_t end = format.find('}', at);
    if (c == '}' || end == std::string_view::npos) throw Refusal("a format with a brace alone");
    const std::string field(format.substr(at + 1, end - at - 1));
    at = end;
    if (field.find_first_not_of("0123456789") == std::string::npos) {
      if (field.size() > 3) throw Refusal("a format with more places than values");
      if (!field.empty()) numbered = true;
      if (field.empty() && numbered) throw Refusal("a format with numbered and plain places");
      const std::size_t index = field.empty() ? next++ : static_cast<std::size_t>(std::stoi(field));
      if (!field.empty() && next > 0) throw Refusal("a format with numbered and plain places");
      out += printed(budget, value_at(values, index));
    } else {
      const Value* found = nullptr;
      for (const auto& [name, value] : named) found = name == field ? &value : found;
      if (found == nullptr) throw Refusal("format {" + field + "}, which Buoy does not know");
      out += printed(budget, *found);
    }
    budget.spend_bytes(out.size() / 16 + 1);
  }
  return out;
}

}  // namespace buoy::text::jinja
