#include "buoy/study/guard_toml.h"

#include <fmt/format.h>

#include <algorithm>

#include "buoy/base/error.h"
#include "buoy/base/utf8.h"

namespace buoy::study {
namespace {

constexpr int kMostParts = 16;  // of a key; toml++ itself stops at 256 values inside each other

class Scanner {
 public:
  Scanner(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  void scan() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == '"' || c == '\'') {
        pass_string(c);
      } else {
        look_at(c);
        pass(1);
      }
    }
  }

 private:
  // A character of a key, of a number or between them.
  void look_at(char c) {
    if ((c & 0x80) != 0) fail("ASCII outside of strings and comments", "another character");
    if (c == '.') ++dots_;
    if (dots_ >= kMostParts) fail(fmt::format("a key of at most {} parts", kMostParts), "a longer one");
    if (std::string_view("=,[]{}\n").find(c) != std::string_view::npos) dots_ = 0;
  }

  void pass_string(char quote) {
    const std::string triple(3, quote);
    const bool long_string = text_.substr(at_).starts_with(triple);
    pass(long_string ? 3 : 1);
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\\' && quote == '"') {
        pass(2);
      } else if (long_string && text_.substr(at_).starts_with(triple)) {
        pass(3);
        // Up to two more belong to the string.
        for (int more = 0; more < 2 && at_ < text_.size() && text_[at_] == quote; ++more) pass(1);
        return;
      } else if (!long_string && (c == quote || c == '\n')) {
        if (c == quote) pass(1);
        return;
      } else {
        pass(1);
      }
    }
  }

  void pass(std::size_t count) {
    for (; count > 0 && at_ < text_.size(); --count) line_ += text_[at_++] == '\n';
  }

  [[noreturn]] void fail(const std::string& expected, const std::string& found) const {
    throw_input_error({fmt::format("{}:{}", file_, line_), expected, found});
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0, line_ = 1;
  int dots_ = 0;  // in the key at hand
};

}  // namespace

void check_toml(std::string_view text, const std::string& file) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  const std::size_t valid = first_invalid_utf8(text);
  if (valid < text.size())
    throw_input_error({file, "well-formed UTF-8", fmt::format("a stray byte at offset {}", valid)});
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  Scanner(text, file).scan();
}

}  // namespace buoy::study
