#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "buoy/text/chat/jinja/jinja_format.h"
#include "buoy/text/chat/jinja/jinja_operators.h"
#include "buoy/text/code_points.h"
#include "buoy/text/python_text.h"

namespace buoy::text::jinja {
namespace {

// Python's repr of a text: in single quotes unless it holds those and no double ones.
void append_quoted(std::string& out, std::string_view text) {
  const bool single = text.find('\'') != std::string_view::npos;
  const char quote = single && text.find('"') == std::string_view::npos ? '"' : '\'';
  out += quote;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    const std::string_view character = text.substr(at, point.length);
    at += point.length;
    if (character[0] == quote || character[0] == '\\') {
      out += '\\';
      out += character;
    } else if (point.value == '\n') {
      out += "\\n";
    } else if (point.value == '\r') {
      out += "\\r";
    } else if (point.value == '\t') {
      out += "\\t";
    } else if (is_printable(point.value)) {
      out += character;
    } else if (point.value < 0x100) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned>(point.value));
    } else if (point.value < 0x10000) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(point.value));
    } else {
      out += fmt::format("\\U{:08x}", static_cast<unsigned>(point.value));
    }
  }
  out += quote;
}

void append_repr(Budget& budget, std::string& out, const Value& value);

void append_items(Budget& budget, std::string& out, const Values& items) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out += ", ";
    append_repr(budget, out, items[i]);
  }
}

void append_repr(Budget& budget, std::string& out, const Value& value) {
  budget.spend_steps();
  if (value.undefined()) {
    out += "Undefined";
  } else if (value.none()) {
    out += "None";
  } else if (const auto* boolean = value.get<bool>()) {
    out += *boolean ? "True" : "False";
  } else if (const auto* integer = value.get<std::int64_t>()) {
    out += std::to_string(*integer);
  } else if (const auto* number = value.get<double>()) {
    out += python_float(*number);
  } else if (value.is<Text>()) {
    const std::string& text = plain_text(value);
    budget.spend_bytes(text.size());
    append_quoted(out, text);
  } else if (const auto* sequence = value.sequence()) {
    out += sequence->tuple ? '(' : '[';
    append_items(budget, out, sequence->items);
    if (sequence->tuple && sequence->items.size() == 1) out += ',';
    out += sequence->tuple ? ')' : ']';
  } else if (const auto* dict = value.dict()) {
    out += '{';
    for (std::size_t i = 0; i < dict->entries.size(); ++i) {
      if (i > 0) out += ", ";
      append_repr(budget, out, dict->entries[i].first);
      out += ": ";
      append_repr(budget, out, dict->entries[i].second);
    }
    out += '}';
  } else if (const auto* stream = value.stream();
             stream != nullptr && (stream->kind == StreamKind::kKeys || stream->kind == StreamKind::kValues ||
                                   stream->kind == StreamKind::kItems)) {
    out += type_name(value) + "([";
    append_items(budget, out, stream->items);
    out += "])";
  } else {
    throw Refusal("the text of a " + type_name(value) + ", which Buoy does not know");
  }
}

class JsonWriter {
 public:
  JsonWriter(Budget& budget, const JsonRule& rule) : budget_(budget), rule_(rule) {}

  std::string write(const Value& value) {
    append(value, 0);
    return std::move(out_);
  }

 private:
  void append(const Value& value, int level) {
    budget_.spend_steps();
    if (value.none()) {
      out_ += "null";
    } else if (const auto* boolean = value.get<bool>()) {
      out_ += *boolean ? "true" : "false";
    } else if (const auto* integer = value.get<std::int64_t>()) {
      out_ += std::to_string(*integer);
    } else if (const auto* number = value.get<double>()) {
      append_number(*number);
    } else if (value.is<Text>()) {
      append_text(plain_text(value));
    } else if (const auto* sequence = value.sequence()) {
      append_list(sequence->items, level);
    } else if (const auto* dict = value.dict()) {
      append_dict(*dict, level);
    } else {
      throw Refusal("JSON of " + type_name(value));
    }
  }

  void append_number(double number) {
    out_ += std::isnan(number)   ? "NaN"
            : std::isinf(number) ? (number < 0 ? "-Infinity" : "Infinity")
                                 : python_float(number);
  }

  void append_text(std::string_view text) {
    budget_.spend_bytes(text.size());
    out_ += '"';
    for (std::size_t at = 0; at < text.size();) {
      const CodePoint point = code_point_at(text, at);
      append_character(point.value, text.substr(at, point.length));
      at += point.length;
    }
    out_ += '"';
  }

  void append_character(char32_t value, std::string_view bytes) {
    static constexpr std::string_view kEscaped = "\"\\\n\r\t\f\b", kLetters = "\"\\nrtfb";
    if (const auto place = value < 0x80 ? kEscaped.find(static_cast<char>(value)) : std::string_view::npos;
        place != std::string_view::npos) {
      out_ += '\\';
      out_ += kLetters[place];
    } else if (value < 0x20 || (rule_.ensure_ascii && value >= 0x7F && value < 0x10000)) {
      out_ += fmt::format("\\u{:04x}", static_cast<unsigned>(value));
    } else if (rule_.ensure_ascii && value >= 0x10000) {
      const unsigned rest = static_cast<unsigned>(value) - 0x10000;
      out_ += fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (rest >> 10), 0xDC00 + (rest & 0x3FF));
    } else {
      out_ += bytes;
    }
  }

  void begin_item(bool first, int level) {
    if (!first) out_ += rule_.item_separator;
    break_line(level + 1);
  }

  void break_line(int level) {
    if (!rule_.indented) return;
    budget_.spend_bytes(1 + rule_.indent.size() * static_cast<std::size_t>(level));
    out_ += '\n';
    for (int i = 0; i < level; ++i) out_ += rule_.indent;
  }

  void append_list(const Values& items, int level) {
    out_ += '[';
    for (std::size_t i = 0; i < items.size(); ++i) {
      begin_item(i == 0, level);
      append(items[i], level + 1);
    }
    if (!items.empty()) break_line(level);
    out_ += ']';
  }

  void append_dict(const Dict& dict, int level) {
    auto entries = dict.entries;
    budget_.spend_bytes(entries.size() * sizeof(Value));
    if (rule_.sort_keys) {
      std::stable_sort(entries.begin(), entries.end(),
                       [&](const auto& a, const auto& b) { return compare(budget_, a.first, b.first) < 0; });
    }
    out_ += '{';
    for (std::size_t i = 0; i < entries.size(); ++i) {
      begin_item(i == 0, level);
      append_key(entries[i].first);
      out_ += rule_.key_separator;
      append(entries[i].second, level + 1);
    }
    if (!entries.empty()) break_line(level);
    out_ += '}';
  }

  void append_key(const Value& key) {
    if (key.is<Text>()) return append_text(plain_text(key));
    if (!key.none() && !as_number(key)) throw Refusal("JSON with a key of type " + type_name(key));
    out_ += '"';
    append(key, 0);
    out_ += '"';
  }

  Budget& budget_;
  const JsonRule& rule_;
  std::string out_;
};

}  // namespace

std::string python_float(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char buffer[64];
  const double size = std::fabs(value);
  if (size != 0 && (size < 1e-4 || size >= 1e16)) {
    const auto [end, error] =
        std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific);
    return {buffer, end};
  }
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed);
  std::string text(buffer, end);
  if (text.find('.') == std::string::npos) text += ".0";
  return text;
}

std::string printed(Budget& budget, const Value& value) {
  if (value.undefined()) return "";
  if (const auto* text = value.text()) return *text;
  std::string out;
  append_repr(budget, out, value);
  budget.spend_bytes(out.size());
  return out;
}

std::string json_text(Budget& budget, const Value& value, const JsonRule& rule) {
  return JsonWriter(budget, rule).write(value);
}

}  // namespace buoy::text::jinja
