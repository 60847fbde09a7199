#pragma once

#include "buoy/text/chat/jinja/jinja_syntax.h"
#include "buoy/text/chat/jinja/jinja_token_stream.h"

namespace buoy::text::jinja {

// Reads expressions by the grammar of Jinja 3.1. InputError for what it does not know.
class ExpressionParser {
 public:
  explicit ExpressionParser(TokenStream& tokens) : tokens_(tokens) {}

  ExpressionPtr expression();
  ExpressionPtr expression_without_choice() { return disjunction(); }
  // One expression, or several separated by commas.
  ExpressionPtr expressions(bool with_choice = true);
  // "name | other(1)" behind a block's tag; null when there is none.
  ExpressionPtr block_filters();
  ExpressionPtr first_block_filter();  // without the "|"

  // Names that mean something Buoy lacks inside a macro.
  void enter_macro(std::vector<std::string> parameters) { macros_.push_back(std::move(parameters)); }
  void leave_macro() { macros_.pop_back(); }

 private:
  ExpressionPtr disjunction();
  ExpressionPtr conjunction();
  ExpressionPtr negation();
  ExpressionPtr comparison();
  ExpressionPtr sum();
  ExpressionPtr concatenation();
  ExpressionPtr product();
  ExpressionPtr power();
  ExpressionPtr unary(bool with_filters);
  ExpressionPtr primary();
  ExpressionPtr name();
  ExpressionPtr number();
  ExpressionPtr parenthesis();
  ExpressionPtr list();
  ExpressionPtr dict();
  ExpressionPtr postfix(ExpressionPtr node);
  ExpressionPtr filters(ExpressionPtr node);
  ExpressionPtr filter(ExpressionPtr node);
  ExpressionPtr test(ExpressionPtr node);
  ExpressionPtr subscript(ExpressionPtr node);
  ExpressionPtr call(ExpressionPtr node);
  std::vector<Argument> arguments();

  ExpressionPtr make(ExpressionKind kind, std::string name, std::vector<ExpressionPtr> operands);
  template <typename... Operands>
  ExpressionPtr node(ExpressionKind kind, std::string name, Operands... operands) {
    std::vector<ExpressionPtr> list;
    (list.push_back(std::move(operands)), ...);
    return make(kind, std::move(name), std::move(list));
  }
  ExpressionPtr with_arguments(ExpressionPtr node, std::vector<Argument> arguments);
  ExpressionPtr constant(Value value);
  bool at_end_of_expressions() const;

  TokenStream& tokens_;
  std::vector<std::vector<std::string>> macros_;
};

}  // namespace buoy::text::jinja
