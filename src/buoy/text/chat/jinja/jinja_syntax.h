#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "buoy/text/chat/jinja/jinja_value.h"

namespace buoy::text::jinja {

enum class ExpressionKind {
  kConstant,   // constant
  kName,       // name
  kList,       // operands
  kTuple,      // operands
  kDict,       // operands: key, value, key, value
  kAttribute,  // operands[0].name
  kItem,       // operands[0][operands[1]]
  kSlice,      // operands[0][operands[1]:operands[2]:operands[3]], each of the last three may be null
  kCall,       // operands[0](arguments)
  kFilter,     // operands[0] | name(arguments); no operand: the text of a block
  kTest,       // operands[0] is name(arguments)
  kUnary,      // name: not, -, +
  kBinary,     // name: + - * / // % ** and or
  kConcat,     // operands joined as text
  kCompare,    // operands[0] operators[0] operands[1] operators[1] ...
  kChoice,     // operands[0] if operands[1] else operands[2], which may be null
};

struct Expression;
using ExpressionPtr = std::unique_ptr<Expression>;

struct Argument {
  std::string name;  // "": by its place
  ExpressionPtr value;
};

struct Expression {
  ExpressionKind kind = ExpressionKind::kConstant;
  int line = 0;
  int height = 1;  // of the tree from here down
  std::string name;
  Value constant;
  std::vector<ExpressionPtr> operands;
  std::vector<std::string> operators;
  std::vector<Argument> arguments;
};

// What can stand left of "=" and behind "for": names, ns.attribute, several of them.
struct Target {
  std::string name;
  std::string attribute;      // of the namespace `name`; "": the name itself
  std::vector<Target> parts;  // unpacked into these; then the rest is empty
};

enum class StatementKind {
  kText,
  kPrint,
  kIf,
  kFor,
  kSet,
  kSetBlock,
  kMacro,
  kFilterBlock,
  kWith,
  kScope,
  kBreak,
  kContinue
};

struct Statement;
using Statements = std::vector<std::unique_ptr<Statement>>;

struct Branch {
  ExpressionPtr condition;  // null: else
  Statements body;
};

struct Parameter {
  std::string name;
  ExpressionPtr value;  // when it is not given; null: undefined
};

struct Statement {
  StatementKind kind = StatementKind::kText;
  int line = 0;
  std::string text;          // kText
  ExpressionPtr expression;  // kPrint, kSet: the value; kFor: what is walked through; blocks: their filters
  ExpressionPtr condition;   // kFor: only items for which this holds
  std::vector<Target> targets;        // kSet, kSetBlock, kFor: one; kWith: one per value
  std::vector<ExpressionPtr> values;  // kWith
  std::vector<Branch> branches;       // kIf
  Statements body, otherwise;         // otherwise: of a loop without items
  std::shared_ptr<const Macro> macro;
};

struct Macro {
  std::string name;
  std::vector<Parameter> parameters;
  Statements body;
};

}  // namespace buoy::text::jinja
