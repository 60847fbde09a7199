#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "buoy/text/chat/jinja/jinja_lexer.h"

namespace buoy::text::jinja {

// The tokens of one template, read from left to right.
class TokenStream {
 public:
  TokenStream(std::vector<Token> tokens, std::string name)
      : tokens_(std::move(tokens)), name_(std::move(name)) {}

  // One level of brackets, operators or statements inside each other.
  static constexpr int kMaxNesting = 200;
  class Level {
   public:
    explicit Level(TokenStream& tokens) : tokens_(tokens) {
      if (++tokens_.nesting_ > kMaxNesting) tokens_.refuse_nesting();
    }
    ~Level() { --tokens_.nesting_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    TokenStream& tokens_;
  };

  const Token& current() const { return tokens_[at_]; }
  const Token& following() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  Token take() {
    const Token token = tokens_[at_];
    if (at_ + 1 < tokens_.size()) ++at_;
    return token;
  }

  bool at(TokenKind kind) const { return current().kind == kind; }
  bool at(TokenKind kind, std::string_view text) const { return at(kind) && current().text == text; }
  bool at_name(std::string_view name) const { return at(TokenKind::kName, name); }
  bool at_operator(std::string_view text) const { return at(TokenKind::kOperator, text); }

  bool skip_name(std::string_view name) { return at_name(name) && (take(), true); }
  bool skip_operator(std::string_view text) { return at_operator(text) && (take(), true); }

  void expect_operator(std::string_view text) {
    if (!skip_operator(text)) refuse(fmt::format("{} where \"{}\" should be", describe(current()), text));
  }
  std::string expect_name() {
    if (!at(TokenKind::kName)) refuse(fmt::format("{} where a name should be", describe(current())));
    return take().text;
  }
  void expect(TokenKind kind, std::string_view what) {
    if (!at(kind)) refuse(fmt::format("{} where {} should be", describe(current()), what));
    take();
  }

  [[noreturn]] void refuse(const std::string& found) const { refuse_at(name_, current().line, found); }

  [[noreturn]] void refuse_nesting() const {
    refuse(fmt::format("parts inside each other more than {} deep", kMaxNesting));
  }

  static std::string describe(const Token& token) {
    switch (token.kind) {
      case TokenKind::kName:
      case TokenKind::kInteger:
      case TokenKind::kFloat:
      case TokenKind::kOperator:
        return '"' + token.text + '"';
      case TokenKind::kText:
        return "quoted text";
      case TokenKind::kEnd:
        return "the end of the template";
      default:
        return "the end of the tag";
    }
  }

 private:
  std::vector<Token> tokens_;
  std::string name_;
  std::size_t at_ = 0;
  int nesting_ = 0;
};

}  // namespace buoy::text::jinja
