#include "buoy/text/tokenizer/steps/split_pattern.h"

#include <fmt/format.h>

#include <array>

#include "buoy/base/error.h"

namespace buoy::text {
namespace {

constexpr size_t kLongestPattern = 4096;

constexpr bool is_alphanumeric(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

class Rewriter {
 public:
  Rewriter(std::string_view pattern, const std::string& where) : pattern_(pattern), where_(where) {}

  std::string rewrite() {
    if (pattern_.empty() || pattern_.size() > kLongestPattern) {
      throw_input_error({where_, fmt::format("a pattern of 1 to {} bytes", kLongestPattern),
                         fmt::format("{} bytes", pattern_.size())});
    }
    while (at_ < pattern_.size()) {
      if (pattern_[at_] == '\\') {
        take_escape();
      } else if (in_set_) {
        take_in_set();
      } else {
        take_outside_set();
      }
    }
    return std::move(result_);
  }

 private:
  bool next_is(std::string_view text) const { return pattern_.substr(at_).starts_with(text); }

  void keep(size_t count) {
    result_ += pattern_.substr(at_, count);
    at_ += count;
  }

  [[noreturn]] void refuse(const std::string& what) const {
    throw_input_error({where_, "a pattern Buoy knows how to match",
                       fmt::format("{} at byte {} of \"{}\"", what, at_, pattern_)});
  }

  // PCRE2's \s also takes U+180E, which is not white space to Oniguruma.
  void take_escape() {
    if (at_ + 1 == pattern_.size()) refuse("a lone backslash");
    const char kind = pattern_[at_ + 1];
    if (kind == 's' || kind == 'S') {
      result_ += kind == 's' ? "\\p{White_Space}" : "\\P{White_Space}";
      at_ += 2;
    } else if (kind == 'p' || kind == 'P' || kind == 'x') {
      take_braced_escape();
    } else if (std::string_view("dDrntf").find(kind) != std::string_view::npos || !is_alphanumeric(kind)) {
      keep(2);
    } else {
      refuse(fmt::format("\\{}", kind));
    }
  }

  void take_braced_escape() {
    const size_t close = pattern_.find('}', at_);
    if (at_ + 2 >= pattern_.size() || pattern_[at_ + 2] != '{' || close == std::string_view::npos) {
      refuse(fmt::format("\\{} without braces", pattern_[at_ + 1]));
    }
    for (const char c : pattern_.substr(at_ + 3, close - at_ - 3)) {
      if (!is_alphanumeric(c) && c != '_') refuse(fmt::format("\\{} with a strange name", pattern_[at_ + 1]));
    }
    keep(close + 1 - at_);
  }

  void take_in_set() {
    if (next_is("[") || next_is("&&")) refuse("a set operation");
    if (next_is("]")) {
      if (at_ == set_begin_) refuse("an empty set");
      in_set_ = false;
    }
    keep(1);
  }

  void take_outside_set() {
    if (next_is("[")) {
      in_set_ = true;
      keep(next_is("[^") ? 2 : 1);
      set_begin_ = at_;
    } else if (next_is("(?")) {
      static constexpr std::array<std::string_view, 7> kGroups = {"(?:",  "(?i:", "(?=", "(?!",
                                                                  "(?<=", "(?<!", "(?>"};
      for (const std::string_view group : kGroups) {
        if (next_is(group)) return keep(group.size());
      }
      refuse("a group of unknown kind");
    } else if (next_is("(*") || next_is("^") || next_is("$") || next_is("}+") || next_is("{,")) {
      refuse("a construct that differs between pattern languages");
    } else {
      keep(1);
    }
  }

  std::string_view pattern_;
  const std::string& where_;
  std::string result_;
  size_t at_ = 0;
  bool in_set_ = false;
  size_t set_begin_ = 0;
};

}  // namespace

std::string pattern_for_pcre2(std::string_view pattern, const std::string& where) {
  return Rewriter(pattern, where).rewrite();
}

}  // namespace buoy::text
