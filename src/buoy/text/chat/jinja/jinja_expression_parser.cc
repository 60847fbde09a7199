#include "buoy/text/chat/jinja/jinja_expression_parser.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <initializer_list>

#include "buoy/text/chat/jinja/jinja_filters.h"
#include "buoy/text/chat/jinja/jinja_tests.h"

namespace buoy::text::jinja {
namespace {

constexpr int kMaxHeight = TokenStream::kMaxNesting;  // of a tree of expressions

std::string operator_among(const TokenStream& tokens, std::initializer_list<std::string_view> known) {
  for (const std::string_view text : known) {
    if (tokens.at_operator(text)) return std::string(text);
  }
  return "";
}

}  // namespace

ExpressionPtr ExpressionParser::make(ExpressionKind kind, std::string name,
                                     std::vector<ExpressionPtr> operands) {
  auto made = std::make_unique<Expression>();
  made->kind = kind;
  made->line = tokens_.current().line;
  made->name = std::move(name);
  for (const auto& operand : operands) {
    if (operand) made->height = std::max(made->height, operand->height + 1);
  }
  if (made->height > kMaxHeight) tokens_.refuse_nesting();
  made->operands = std::move(operands);
  return made;
}

ExpressionPtr ExpressionParser::with_arguments(ExpressionPtr made, std::vector<Argument> list) {
  for (const auto& argument : list) made->height = std::max(made->height, argument.value->height + 1);
  if (made->height > kMaxHeight) tokens_.refuse_nesting();
  made->arguments = std::move(list);
  return made;
}

ExpressionPtr ExpressionParser::constant(Value value) {
  auto made = node(ExpressionKind::kConstant, "");
  made->constant = std::move(value);
  return made;
}

bool ExpressionParser::at_end_of_expressions() const {
  return tokens_.at(TokenKind::kPrintEnd) || tokens_.at(TokenKind::kBlockEnd) || tokens_.at_operator(")") ||
         tokens_.at(TokenKind::kEnd);
}

ExpressionPtr ExpressionParser::expressions(bool with_choice) {
  const auto one = [&] { return with_choice ? expression() : expression_without_choice(); };
  auto first = one();
  if (!tokens_.at_operator(",")) return first;
  std::vector<ExpressionPtr> all;
  all.push_back(std::move(first));
  while (tokens_.skip_operator(",")) {
    if (at_end_of_expressions() || tokens_.at_name("in")) break;
    all.push_back(one());
  }
  return make(ExpressionKind::kTuple, "", std::move(all));
}

ExpressionPtr ExpressionParser::expression() {
  const TokenStream::Level level(tokens_);
  auto value = disjunction();
  while (tokens_.skip_name("if")) {
    auto condition = disjunction();
    auto other = tokens_.skip_name("else") ? expression() : nullptr;
    value = node(ExpressionKind::kChoice, "", std::move(value), std::move(condition), std::move(other));
  }
  return value;
}

ExpressionPtr ExpressionParser::disjunction() {
  auto left = conjunction();
  while (tokens_.skip_name("or")) left = node(ExpressionKind::kBinary, "or", std::move(left), conjunction());
  return left;
}

ExpressionPtr ExpressionParser::conjunction() {
  auto left = negation();
  while (tokens_.skip_name("and")) left = node(ExpressionKind::kBinary, "and", std::move(left), negation());
  return left;
}

ExpressionPtr ExpressionParser::negation() {
  const TokenStream::Level level(tokens_);
  if (tokens_.skip_name("not")) return node(ExpressionKind::kUnary, "not", negation());
  return comparison();
}

ExpressionPtr ExpressionParser::comparison() {
  auto first = sum();
  std::vector<ExpressionPtr> operands;
  std::vector<std::string> operators;
  for (;;) {
    std::string found = operator_among(tokens_, {"==", "!=", "<=", ">=", "<", ">"});
    if (!found.empty()) {
      tokens_.take();
    } else if (tokens_.skip_name("in")) {
      found = "in";
    } else if (tokens_.at_name("not") && tokens_.following().kind == TokenKind::kName &&
               tokens_.following().text == "in") {
      tokens_.take();
      tokens_.take();
      found = "not in";
    } else {
      break;
    }
    if (operands.empty()) operands.push_back(std::move(first));
    operators.push_back(std::move(found));
    operands.push_back(sum());
  }
  if (operands.empty()) return first;
  auto made = make(ExpressionKind::kCompare, "", std::move(operands));
  made->operators = std::move(operators);
  return made;
}

ExpressionPtr ExpressionParser::sum() {
  auto left = concatenation();
  for (std::string found; !(found = operator_among(tokens_, {"+", "-"})).empty();) {
    tokens_.take();
    left = node(ExpressionKind::kBinary, found, std::move(left), concatenation());
  }
  return left;
}

ExpressionPtr ExpressionParser::concatenation() {
  auto first = product();
  if (!tokens_.at_operator("~")) return first;
  std::vector<ExpressionPtr> parts;
  parts.push_back(std::move(first));
  while (tokens_.skip_operator("~")) parts.push_back(product());
  return make(ExpressionKind::kConcat, "", std::move(parts));
}

ExpressionPtr ExpressionParser::product() {
  auto left = power();
  for (std::string found; !(found = operator_among(tokens_, {"*", "/", "//", "%"})).empty();) {
    tokens_.take();
    left = node(ExpressionKind::kBinary, found, std::move(left), power());
  }
  return left;
}

ExpressionPtr ExpressionParser::power() {
  auto left = unary(true);
  while (tokens_.skip_operator("**"))
    left = node(ExpressionKind::kBinary, "**", std::move(left), unary(true));
  return left;
}

ExpressionPtr ExpressionParser::unary(bool with_filters) {
  const TokenStream::Level level(tokens_);
  ExpressionPtr made;
  if (tokens_.skip_operator("-")) {
    made = node(ExpressionKind::kUnary, "-", unary(false));
  } else if (tokens_.skip_operator("+")) {
    made = node(ExpressionKind::kUnary, "+", unary(false));
  } else {
    made = primary();
  }
  made = postfix(std::move(made));
  return with_filters ? filters(std::move(made)) : std::move(made);
}

ExpressionPtr ExpressionParser::primary() {
  switch (tokens_.current().kind) {
    case TokenKind::kName:
      return name();
    case TokenKind::kText: {
      std::string text = tokens_.take().text;
      while (tokens_.at(TokenKind::kText)) text += tokens_.take().text;
      return constant(Value(Text{std::make_shared<const std::string>(std::move(text))}));
    }
    case TokenKind::kInteger:
    case TokenKind::kFloat:
      return number();
    default:
      break;
  }
  if (tokens_.at_operator("(")) return parenthesis();
  if (tokens_.at_operator("[")) return list();
  if (tokens_.at_operator("{")) return dict();
  tokens_.refuse(TokenStream::describe(tokens_.current()) + " where a value should be");
}

ExpressionPtr ExpressionParser::name() {
  const std::string text = tokens_.current().text;
  if (!macros_.empty() && (text == "caller" || text == "kwargs" || text == "varargs")) {
    const auto& own = macros_.back();
    if (std::find(own.begin(), own.end(), text) == own.end())
      tokens_.refuse(text + " in a macro, which Buoy does not know");
  }
  if (text == "self" || text == "super") tokens_.refuse(text + ", which Buoy does not know");
  tokens_.take();
  if (text == "true" || text == "True") return constant(Value(true));
  if (text == "false" || text == "False") return constant(Value(false));
  if (text == "none" || text == "None") return constant(Value(None{}));
  return node(ExpressionKind::kName, text);
}

ExpressionPtr ExpressionParser::number() {
  const Token token = tokens_.current();
  const char* begin = token.text.data();
  const char* end = begin + token.text.size();
  if (token.kind == TokenKind::kFloat) {
    double value = 0;
    if (std::from_chars(begin, end, value).ec != std::errc()) tokens_.refuse("the number " + token.text);
    tokens_.take();
    return constant(Value(value));
  }
  std::int64_t value = 0;
  if (std::from_chars(begin, end, value).ec != std::errc()) tokens_.refuse("the number " + token.text);
  tokens_.take();
  return constant(Value(value));
}

ExpressionPtr ExpressionParser::parenthesis() {
  const TokenStream::Level level(tokens_);
  tokens_.expect_operator("(");
  if (tokens_.skip_operator(")")) return node(ExpressionKind::kTuple, "");
  auto inside = expressions();
  tokens_.expect_operator(")");
  return inside;
}

ExpressionPtr ExpressionParser::list() {
  const TokenStream::Level level(tokens_);
  tokens_.expect_operator("[");
  std::vector<ExpressionPtr> items;
  while (!tokens_.at_operator("]")) {
    if (!items.empty()) tokens_.expect_operator(",");
    if (tokens_.at_operator("]")) break;
    items.push_back(expression());
  }
  tokens_.expect_operator("]");
  return make(ExpressionKind::kList, "", std::move(items));
}

ExpressionPtr ExpressionParser::dict() {
  const TokenStream::Level level(tokens_);
  tokens_.expect_operator("{");
  std::vector<ExpressionPtr> entries;
  while (!tokens_.at_operator("}")) {
    if (!entries.empty()) tokens_.expect_operator(",");
    if (tokens_.at_operator("}")) break;
    entries.push_back(expression());
    tokens_.expect_operator(":");
    entries.push_back(expression());
  }
  tokens_.expect_operator("}");
  return make(ExpressionKind::kDict, "", std::move(entries));
}

ExpressionPtr ExpressionParser::postfix(ExpressionPtr made) {
  for (;;) {
    if (tokens_.at_operator(".") || tokens_.at_operator("[")) {
      made = subscript(std::move(made));
    } else if (tokens_.at_operator("(")) {
      made = call(std::move(made));
    } else {
      return made;
    }
  }
}

ExpressionPtr ExpressionParser::filters(ExpressionPtr made) {
  for (;;) {
    if (tokens_.skip_operator("|")) {
      made = filter(std::move(made));
    } else if (tokens_.skip_name("is")) {
      made = test(std::move(made));
    } else if (tokens_.at_operator("(")) {
      made = call(std::move(made));
    } else {
      return made;
    }
  }
}

ExpressionPtr ExpressionParser::filter(ExpressionPtr input) {
  if (tokens_.at(TokenKind::kName) && find_filter(tokens_.current().text) == nullptr)
    tokens_.refuse("filter " + tokens_.current().text + ", which Buoy does not know");
  std::string text = tokens_.expect_name();
  if (tokens_.at_operator(".")) tokens_.refuse("filter " + text + "., which Buoy does not know");
  std::vector<ExpressionPtr> operands;
  if (input) operands.push_back(std::move(input));
  auto made = make(ExpressionKind::kFilter, std::move(text), std::move(operands));
  return tokens_.at_operator("(") ? with_arguments(std::move(made), arguments()) : std::move(made);
}

ExpressionPtr ExpressionParser::first_block_filter() {
  auto made = filter(nullptr);
  while (tokens_.skip_operator("|")) made = filter(std::move(made));
  return made;
}

ExpressionPtr ExpressionParser::block_filters() {
  return tokens_.skip_operator("|") ? first_block_filter() : nullptr;
}

ExpressionPtr ExpressionParser::test(ExpressionPtr input) {
  const bool negated = tokens_.skip_name("not");
  if (tokens_.at(TokenKind::kName) && find_test(tokens_.current().text) == nullptr)
    tokens_.refuse("test " + tokens_.current().text + ", which Buoy does not know");
  auto made = node(ExpressionKind::kTest, tokens_.expect_name(), std::move(input));
  if (tokens_.at_operator("(")) {
    made = with_arguments(std::move(made), arguments());
  } else {
    const TokenKind kind = tokens_.current().kind;
    const bool value = kind == TokenKind::kText || kind == TokenKind::kInteger || kind == TokenKind::kFloat ||
                       tokens_.at_operator("[") || tokens_.at_operator("{") ||
                       (kind == TokenKind::kName && !tokens_.at_name("else") && !tokens_.at_name("or") &&
                        !tokens_.at_name("and"));
    if (value) {
      if (tokens_.at_name("is")) tokens_.refuse("two tests in a row");
      std::vector<Argument> list;
      list.push_back({"", postfix(primary())});
      made = with_arguments(std::move(made), std::move(list));
    }
  }
  return negated ? node(ExpressionKind::kUnary, "not", std::move(made)) : std::move(made);
}

ExpressionPtr ExpressionParser::subscript(ExpressionPtr object) {
  const TokenStream::Level level(tokens_);
  if (tokens_.skip_operator(".")) {
    if (tokens_.at(TokenKind::kInteger)) return node(ExpressionKind::kItem, "", std::move(object), number());
    return node(ExpressionKind::kAttribute, tokens_.expect_name(), std::move(object));
  }
  tokens_.expect_operator("[");
  ExpressionPtr parts[3];
  std::size_t colons = 0;
  for (;;) {
    if (tokens_.at_operator(":")) {
      if (++colons > 2) tokens_.refuse("a slice of more than three parts");
      tokens_.take();
    } else if (tokens_.at_operator("]")) {
      break;
    } else if (parts[colons] != nullptr) {
      tokens_.refuse(TokenStream::describe(tokens_.current()) + " inside [ ]");
    } else {
      parts[colons] = expression();
    }
  }
  if (colons == 0 && parts[0] == nullptr) tokens_.refuse("[ ] with nothing inside");
  tokens_.expect_operator("]");
  if (colons == 0) return node(ExpressionKind::kItem, "", std::move(object), std::move(parts[0]));
  return node(ExpressionKind::kSlice, "", std::move(object), std::move(parts[0]), std::move(parts[1]),
              std::move(parts[2]));
}

ExpressionPtr ExpressionParser::call(ExpressionPtr callee) {
  auto made = node(ExpressionKind::kCall, "", std::move(callee));
  return with_arguments(std::move(made), arguments());
}

std::vector<Argument> ExpressionParser::arguments() {
  const TokenStream::Level level(tokens_);
  tokens_.expect_operator("(");
  std::vector<Argument> list;
  while (!tokens_.at_operator(")")) {
    if (!list.empty()) tokens_.expect_operator(",");
    if (tokens_.at_operator(")")) break;
    if (tokens_.at_operator("*") || tokens_.at_operator("**"))
      tokens_.refuse("arguments from a list (" + tokens_.current().text + "), which Buoy does not know");
    std::string name;
    if (tokens_.at(TokenKind::kName) && tokens_.following().kind == TokenKind::kOperator &&
        tokens_.following().text == "=") {
      name = tokens_.take().text;
      tokens_.take();
      for (const auto& given : list) {
        if (given.name == name) tokens_.refuse("argument " + name + " twice");
      }
    } else if (!list.empty() && !list.back().name.empty()) {
      tokens_.refuse("an argument by its place behind one by its name");
    }
    list.push_back({std::move(name), expression()});
  }
  tokens_.expect_operator(")");
  return list;
}

}  // namespace buoy::text::jinja
