#include "buoy/text/chat/jinja/jinja_lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "buoy/base/error.h"
#include "buoy/text/chat/jinja/jinja_escapes.h"
#include "buoy/text/code_points.h"
#include "buoy/text/python_text.h"

namespace buoy::text::jinja {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_name_part(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_';
}

// All line ends as \n, and none at the very end.
std::string normalised(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\r') {
      out += '\n';
      if (i + 1 < text.size() && text[i + 1] == '\n') ++i;
    } else {
      out += text[i];
    }
  }
  if (out.ends_with('\n')) out.pop_back();
  return out;
}

class Lexer {
 public:
  Lexer(std::string_view text, const std::string& name) : source_(normalised(text)), name_(name) {}

  std::vector<Token> read() {
    while (at_ < source_.size()) read_data();
    add(TokenKind::kEnd, "");
    return std::move(tokens_);
  }

 private:
  [[noreturn]] void refuse(const std::string& found) const { refuse_at(name_, line_, found); }

  void add(TokenKind kind, std::string text) { tokens_.push_back({kind, std::move(text), line_}); }

  bool looking_at(std::string_view text) const {
    return std::string_view(source_).substr(at_).starts_with(text);
  }

  void advance(std::size_t bytes) {
    line_ += static_cast<int>(std::count(source_.begin() + static_cast<std::ptrdiff_t>(at_),
                                         source_.begin() + static_cast<std::ptrdiff_t>(at_ + bytes), '\n'));
    at_ += bytes;
    if (bytes > 0) line_starting_ = source_[at_ - 1] == '\n';
  }

  std::size_t spaces_at(std::size_t from) const {
    std::size_t at = from;
    while (at < source_.size()) {
      const CodePoint point = code_point_at(source_, at);
      if (!is_python_space(point.value)) break;
      at += point.length;
    }
    return at - from;
  }

  // The text in front of a tag, without the white space that the tag takes away.
  std::string before_tag(std::string_view text, char sign, bool is_print) const {
    if (sign == '-') return std::string(strip(text, std::nullopt, {false, true}));
    if (sign != '+' && !is_print) {
      const std::size_t line = text.rfind('\n') + 1;  // npos + 1 is 0
      if ((line > 0 || line_starting_) && strip(text.substr(line), std::nullopt, {}).empty())
        return std::string(text.substr(0, line));
    }
    return std::string(text);
  }

  char sign_at(std::size_t at) const {
    return at < source_.size() && (source_[at] == '-' || source_[at] == '+') ? source_[at] : '\0';
  }

  // Length of the end of a tag at `at`, with what it takes away behind it; 0 when there is none.
  std::size_t tag_end_at(std::size_t at, std::string_view end, bool is_print) const {
    const std::string_view rest = std::string_view(source_).substr(at);
    if (rest.starts_with('-') && rest.substr(1).starts_with(end))
      return 1 + end.size() + spaces_at(at + 1 + end.size());
    if (!is_print && rest.starts_with('+') && rest.substr(1).starts_with(end)) return 1 + end.size();
    if (!rest.starts_with(end)) return 0;
    const std::size_t behind = at + end.size();
    return end.size() + (!is_print && behind < source_.size() && source_[behind] == '\n' ? 1 : 0);
  }

  void read_data() {
    std::size_t tag = at_;
    do {
      tag = source_.find('{', tag);
      if (tag == std::string::npos) break;
      const char next = tag + 1 < source_.size() ? source_[tag + 1] : '\0';
      if (next == '%' || next == '{' || next == '#') break;
      ++tag;
    } while (true);
    if (tag == std::string::npos) {
      add(TokenKind::kData, source_.substr(at_));
      advance(source_.size() - at_);
      return;
    }
    const char kind = source_[tag + 1];
    const char sign = sign_at(tag + 2);
    std::string data = before_tag(std::string_view(source_).substr(at_, tag - at_), sign, kind == '{');
    if (!data.empty()) add(TokenKind::kData, std::move(data));
    advance(tag - at_);
    if (kind == '%' && read_raw()) return;
    advance(sign == '\0' ? 2 : 3);
    if (kind == '#') {
      skip_comment();
    } else {
      read_tag(kind == '{');
    }
  }

  void skip_comment() {
    const std::size_t end = source_.find("#}", at_);
    if (end == std::string::npos) refuse("a comment without an end");
    const bool signed_end = end > at_ && (source_[end - 1] == '-' || source_[end - 1] == '+');
    const std::size_t from = signed_end ? end - 1 : end;
    advance(from - at_);
    advance(tag_end_at(at_, "#}", false));
  }

  // "{% word %}" at `at`: the length up to its end and the place of that end, or nothing.
  struct BareTag {
    std::size_t end_at = 0;
    bool found = false;
  };
  BareTag bare_tag_at(std::size_t at, std::string_view word) const {
    const std::string_view all = source_;
    std::size_t inside = at + 2 + (sign_at(at + 2) == '\0' ? 0 : 1);
    inside += spaces_at(inside);
    if (!all.substr(inside).starts_with(word)) return {};
    inside += word.size();
    inside += spaces_at(inside);
    return {inside, tag_end_at(inside, "%}", false) > 0};
  }

  bool read_raw() {
    const BareTag begin = bare_tag_at(at_, "raw");
    if (!begin.found || source_[begin.end_at] == '+') return false;
    const bool strips = source_[begin.end_at] == '-';
    const std::size_t text_at = begin.end_at + (strips ? 3 + spaces_at(begin.end_at + 3) : 2);
    advance(text_at - at_);
    for (std::size_t tag = source_.find("{%", at_); tag != std::string::npos;
         tag = source_.find("{%", tag + 1)) {
      const BareTag end = bare_tag_at(tag, "endraw");
      if (!end.found) continue;
      std::string data =
          before_tag(std::string_view(source_).substr(at_, tag - at_), sign_at(tag + 2), false);
      if (!data.empty()) add(TokenKind::kData, std::move(data));
      advance(end.end_at - at_);
      advance(tag_end_at(at_, "%}", false));
      return true;
    }
    refuse("{% raw %} without {% endraw %}");
  }

  void read_tag(bool is_print) {
    add(is_print ? TokenKind::kPrintBegin : TokenKind::kBlockBegin, "");
    const std::string_view end = is_print ? "}}" : "%}";
    std::string open;  // brackets
    for (;;) {
      if (at_ >= source_.size()) refuse(is_print ? "{{ without }}" : "{% without %}");
      if (open.empty()) {
        if (const std::size_t length = tag_end_at(at_, end, is_print)) {
          add(is_print ? TokenKind::kPrintEnd : TokenKind::kBlockEnd, "");
          advance(length);
          return;
        }
      }
      if (const std::size_t spaces = spaces_at(at_)) {
        advance(spaces);
        continue;
      }
      read_token(open);
    }
  }

  void read_token(std::string& open) {
    const char c = source_[at_];
    if (is_digit(c)) return read_number();
    if (is_name_part(c)) return read_name();
    if (c == '"' || c == '\'') return read_literal(c);
    read_operator(open);
  }

  void read_name() {
    std::size_t end = at_;
    while (end < source_.size() && is_name_part(source_[end])) ++end;
    if (end < source_.size() && static_cast<unsigned char>(source_[end]) >= 0x80)
      refuse("a name with letters other than a to z");
    add(TokenKind::kName, source_.substr(at_, end - at_));
    advance(end - at_);
  }

  std::size_t digits_at(std::size_t at) const {
    std::size_t end = at;
    while (end < source_.size() &&
           (is_digit(source_[end]) ||
            (end > at && source_[end] == '_' && end + 1 < source_.size() && is_digit(source_[end + 1]))))
      ++end;
    return end - at;
  }

  void read_number() {
    std::size_t end = at_ + digits_at(at_);
    bool is_float = false;
    const auto peek = [&](std::size_t at) { return at < source_.size() ? source_[at] : '\0'; };
    if (peek(end) == '.' && is_digit(peek(end + 1)) && (at_ == 0 || source_[at_ - 1] != '.')) {
      is_float = true;
      end += 1 + digits_at(end + 1);
    }
    if (peek(end) == 'e' || peek(end) == 'E') {
      const std::size_t digits = end + (peek(end + 1) == '+' || peek(end + 1) == '-' ? 2 : 1);
      if (is_digit(peek(digits))) {
        is_float = true;
        end = digits + digits_at(digits);
      }
    }
    std::string digits = source_.substr(at_, end - at_);
    std::erase(digits, '_');
    const bool leading_zero =
        digits.size() > 1 && digits[0] == '0' && digits.find_first_not_of('0') != std::string::npos;
    if (is_name_part(peek(end)) || (!is_float && leading_zero))
      refuse("a number written as " + digits + peek(end));
    add(is_float ? TokenKind::kFloat : TokenKind::kInteger, std::move(digits));
    advance(end - at_);
  }

  void read_literal(char quote) {
    std::size_t end = at_ + 1;
    while (end < source_.size() && source_[end] != quote) end += source_[end] == '\\' ? 2 : 1;
    if (end >= source_.size()) refuse("text in quotes without an end");
    const auto text = unescape(std::string_view(source_).substr(at_ + 1, end - at_ - 1));
    if (!text) refuse("an escape in quoted text that Buoy does not know");
    add(TokenKind::kText, *text);
    advance(end + 1 - at_);
  }

  void read_operator(std::string& open) {
    static constexpr std::array<std::string_view, 6> kLong = {"//", "**", "==", "!=", ">=", "<="};
    for (const std::string_view known : kLong) {
      if (!looking_at(known)) continue;
      add(TokenKind::kOperator, std::string(known));
      advance(2);
      return;
    }
    const char c = source_[at_];
    if (std::string_view("+-/*%~[](){}><=.:|,;").find(c) == std::string_view::npos)
      refuse(fmt::format("a character that means nothing there: \"{}\"",
                         std::string_view(source_).substr(at_, code_point_at(source_, at_).length)));
    if (c == '(' || c == '[' || c == '{') open += c;
    if (c == ')' || c == ']' || c == '}') {
      const char wanted = c == ')' ? '(' : c == ']' ? '[' : '{';
      if (open.empty() || open.back() != wanted) refuse(fmt::format("a {} without its beginning", c));
      open.pop_back();
    }
    add(TokenKind::kOperator, std::string(1, c));
    advance(1);
  }

  std::string source_;
  const std::string& name_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int line_ = 1;
  bool line_starting_ = true;
};

}  // namespace

void refuse_at(const std::string& name, int line, const std::string& found) {
  throw_input_error({fmt::format("{}, line {}", name, line), "a chat template Buoy can render", found});
}

std::vector<Token> read_tokens(std::string_view text, const std::string& name) {
  return Lexer(text, name).read();
}

}  // namespace buoy::text::jinja
