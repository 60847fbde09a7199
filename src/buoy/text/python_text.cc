#include "buoy/text/python_text.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstring>

#include "buoy/text/code_points.h"

namespace buoy::text {
namespace {

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

bool is_among(std::string_view character, const std::optional<std::string_view>& characters) {
  if (!characters) return is_python_space(code_point_at(character, 0).value);
  return characters->find(character) != std::string_view::npos;
}

bool is_line_end(char32_t value) {
  return (value >= 0x0A && value <= 0x0D) || (value >= 0x1C && value <= 0x1E) || value == 0x85 ||
         value == 0x2028 || value == 0x2029;
}

// Letters whose capital is more than one letter, or another at the beginning of a word, by Unicode's
// SpecialCasing.
bool has_special_capital(char32_t value) {
  return value == 0xDF || (value >= 0x1C4 && value <= 0x1CC) || (value >= 0x1F1 && value <= 0x1F3) ||
         (value >= 0x10D0 && value <= 0x10FF) || value == 0x149 || value == 0x1F0 || value == 0x390 ||
         value == 0x3B0 || value == 0x587 || (value >= 0x1E96 && value <= 0x1E9A) ||
         (value >= 0x1F50 && value <= 0x1FFF) || (value >= 0xFB00 && value <= 0xFB17);
}

// A capital sigma becomes one of two letters by where it stands, a dotted I becomes two characters.
bool has_special_small_letter(char32_t value) {
  return value == 0x3A3 || value == 0x130;
}

std::optional<std::string> map_case(std::string_view text, bool upper) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    at += point.length;
    if (upper ? has_special_capital(point.value) : has_special_small_letter(point.value)) return std::nullopt;
    const auto code = static_cast<utf8proc_int32_t>(point.value);
    append_utf8(out, static_cast<char32_t>(upper ? utf8proc_toupper(code) : utf8proc_tolower(code)));
  }
  return out;
}

std::vector<std::string_view> split_at_spaces(std::string_view text, std::ptrdiff_t most) {
  std::vector<std::string_view> parts;
  for (;;) {
    text = strip(text, std::nullopt, {true, false});
    if (text.empty()) return parts;
    if (most >= 0 && static_cast<std::ptrdiff_t>(parts.size()) == most) {
      parts.push_back(text);
      return parts;
    }
    std::size_t end = 0;
    while (end < text.size() && !is_python_space(code_point_at(text, end).value))
      end += code_point_at(text, end).length;
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

std::vector<std::string_view> split_at_spaces_from_right(std::string_view text, std::ptrdiff_t most) {
  std::vector<std::string_view> parts;
  for (;;) {
    text = strip(text, std::nullopt, {false, true});
    if (text.empty()) break;
    if (most >= 0 && static_cast<std::ptrdiff_t>(parts.size()) == most) {
      parts.push_back(text);
      break;
    }
    std::size_t begin = text.size();
    while (begin > 0) {
      const std::size_t before = previous_code_point(text, begin);
      if (is_python_space(code_point_at(text, before).value)) break;
      begin = before;
    }
    parts.push_back(text.substr(begin));
    text.remove_suffix(text.size() - begin);
  }
  std::reverse(parts.begin(), parts.end());
  return parts;
}

}  // namespace

bool is_python_space(char32_t value) {
  return (value >= 0x09 && value <= 0x0D) || (value >= 0x1C && value <= 0x20) || value == 0x85 ||
         value == 0xA0 || value == 0x1680 || (value >= 0x2000 && value <= 0x200A) || value == 0x2028 ||
         value == 0x2029 || value == 0x202F || value == 0x205F || value == 0x3000;
}

std::size_t count_characters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::vector<std::string_view> characters_of(std::string_view text) {
  std::vector<std::string_view> characters;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = code_point_at(text, at).length;
    characters.push_back(text.substr(at, length));
    at += length;
  }
  return characters;
}

std::size_t byte_of_character(std::string_view text, std::size_t character) {
  if (is_ascii(text)) return std::min(character, text.size());
  std::size_t at = 0;
  for (; character > 0 && at < text.size(); --character) at += code_point_at(text, at).length;
  return at;
}

std::string_view strip(std::string_view text, std::optional<std::string_view> characters, StripSides sides) {
  while (sides.begin && !text.empty()) {
    const std::size_t length = code_point_at(text, 0).length;
    if (!is_among(text.substr(0, length), characters)) break;
    text.remove_prefix(length);
  }
  while (sides.end && !text.empty()) {
    const std::size_t last = previous_code_point(text, text.size());
    if (!is_among(text.substr(last), characters)) break;
    text.remove_suffix(text.size() - last);
  }
  return text;
}

std::size_t find_bytes(std::string_view text, std::string_view part, std::size_t from) {
  if (from > text.size()) return std::string_view::npos;
  if (part.empty()) return from;
  const void* found = ::memmem(text.data() + from, text.size() - from, part.data(), part.size());
  return found == nullptr ? std::string_view::npos
                          : static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

std::vector<std::string_view> split(std::string_view text, const SplitRule& rule) {
  if (!rule.separator) {
    return rule.from_right ? split_at_spaces_from_right(text, rule.most) : split_at_spaces(text, rule.most);
  }
  const std::string_view separator = *rule.separator;
  std::vector<std::string_view> parts;
  const auto may_cut = [&] { return rule.most < 0 || static_cast<std::ptrdiff_t>(parts.size()) < rule.most; };
  if (rule.from_right) {
    for (std::size_t at = 0; may_cut() && (at = text.rfind(separator)) != std::string_view::npos;) {
      parts.push_back(text.substr(at + separator.size()));
      text = text.substr(0, at);
    }
    parts.push_back(text);
    std::reverse(parts.begin(), parts.end());
    return parts;
  }
  for (std::size_t at = 0; may_cut() && (at = find_bytes(text, separator, 0)) != std::string_view::npos;) {
    parts.push_back(text.substr(0, at));
    text.remove_prefix(at + separator.size());
  }
  parts.push_back(text);
  return parts;
}

std::vector<std::string_view> split_lines(std::string_view text, bool keep_ends) {
  std::vector<std::string_view> lines;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    if (!is_line_end(point.value)) {
      at += point.length;
      continue;
    }
    std::size_t end = at + point.length;
    if (point.value == '\r' && end < text.size() && text[end] == '\n') ++end;
    lines.push_back(text.substr(begin, (keep_ends ? end : at) - begin));
    begin = at = end;
  }
  if (begin < text.size()) lines.push_back(text.substr(begin));
  return lines;
}

std::string replace_all(std::string_view text, std::string_view old, std::string_view with,
                        std::ptrdiff_t most) {
  std::string out;
  std::ptrdiff_t done = 0;
  const auto may = [&] { return most < 0 || done < most; };
  if (old.empty()) {  // before every character and at the end
    for (const std::string_view character : characters_of(text)) {
      if (may()) out += with, ++done;
      out += character;
    }
    if (may()) out += with;
    return out;
  }
  for (std::size_t at = 0; may() && (at = find_bytes(text, old, 0)) != std::string_view::npos; ++done) {
    out += text.substr(0, at);
    out += with;
    text.remove_prefix(at + old.size());
  }
  out += text;
  return out;
}

std::optional<std::string> lower_case(std::string_view text) {
  return map_case(text, false);
}

std::optional<std::string> upper_case(std::string_view text) {
  return map_case(text, true);
}

bool is_printable(char32_t value) {
  if (value == ' ') return true;
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(value))) {
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_ZS:
      return false;
    default:
      return true;
  }
}

}  // namespace buoy::text
