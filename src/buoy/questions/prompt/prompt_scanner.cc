#include "buoy/questions/prompt/prompt_scanner.h"

#include <fmt/format.h>

#include <algorithm>

#include "buoy/base/error.h"
#include "buoy/base/utf8.h"
#include "buoy/questions/score/characters.h"

namespace buoy::questions {
namespace {

constexpr std::string_view kOpenTag = "{{", kCloseTag = "}}", kBlank = " \t";

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}

std::string prepared(std::string_view text, const std::string& name) {
  const std::size_t valid = first_invalid_utf8(text);
  if (valid < text.size()) {
    throw_input_error({name, "well-formed UTF-8", fmt::format("a stray byte at offset {}", valid)});
  }
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  std::string unix_text;
  unix_text.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!text.substr(at).starts_with("\r\n")) unix_text += text[at];
  }
  if (unix_text.ends_with('\n')) unix_text.pop_back();
  return unix_text;
}

class Scanner {
 public:
  Scanner(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  std::vector<PromptToken> scan() {
    std::size_t at = 0;
    while (at < text_.size()) {
      const std::size_t open = std::min(text_.find(kOpenTag, at), text_.size());
      if (open == text_.size()) {
        add_literal(at, open);
        break;
      }
      const std::size_t close = text_.find(kCloseTag, open + kOpenTag.size());
      if (close == std::string_view::npos) throw_input_error({where(open), "\"}}\" to end the tag", "none"});
      std::size_t literal_end = open, next = close + kCloseTag.size();
      const std::string_view inside = text_.substr(open + kOpenTag.size(), close - open - kOpenTag.size());
      const bool prints_nothing =
          !inside.empty() && std::string_view("#^/!").find(inside[0]) != std::string_view::npos;
      if (prints_nothing) take_whole_line(literal_end, next);
      add_literal(at, literal_end);
      add_tag(inside, open);
      at = next;
    }
    return std::move(tokens_);
  }

 private:
  // Counts on from where it was asked last: `at` never goes back.
  std::string where(std::size_t at) {
    for (; counted_ < at; ++counted_) {
      const bool continues_character = (static_cast<unsigned char>(text_[counted_]) & 0xC0) == 0x80;
      column_ = text_[counted_] == '\n' ? 1 : column_ + !continues_character;
      line_ += text_[counted_] == '\n';
    }
    return fmt::format("{}:{}:{}", name_, line_, column_);
  }

  // Widens [begin, next) to the whole line, with its end, when nothing else is on it.
  void take_whole_line(std::size_t& begin, std::size_t& next) const {
    const std::size_t before = text_.find_last_not_of(kBlank, begin == 0 ? 0 : begin - 1);
    const bool first_on_line = begin == 0 || before == std::string_view::npos || text_[before] == '\n';
    const std::size_t after = std::min(text_.find_first_not_of(kBlank, next), text_.size());
    const bool last_on_line = after == text_.size() || text_[after] == '\n';
    if (!first_on_line || !last_on_line) return;
    begin = begin == 0 || before == std::string_view::npos ? 0 : before + 1;
    next = std::min(after + 1, text_.size());
  }

  void add_literal(std::size_t begin, std::size_t end) {
    if (begin < end) {
      tokens_.push_back(
          {PromptToken::Kind::kLiteral, std::string(text_.substr(begin, end - begin)), where(begin)});
    }
  }

  void add_tag(std::string_view inside, std::size_t at) {
    using Kind = PromptToken::Kind;
    const char sign = inside.empty() ? ' ' : inside[0];
    if (sign == '!') return;
    const Kind kind = sign == '#'   ? Kind::kOpen
                      : sign == '^' ? Kind::kOpenInverted
                      : sign == '/' ? Kind::kClose
                                    : Kind::kValue;
    if (kind != Kind::kValue) inside.remove_prefix(1);
    tokens_.push_back({kind, std::string(trim(inside)), where(at)});
  }

  std::string_view text_;
  const std::string& name_;
  std::vector<PromptToken> tokens_;
  std::size_t counted_ = 0, line_ = 1, column_ = 1;
};

}  // namespace

std::vector<PromptToken> scan_prompt(std::string_view text, const std::string& name) {
  return Scanner(prepared(text, name), name).scan();
}

}  // namespace buoy::questions
