#include "buoy/text/chat/jinja/jinja_attributes.h"
#include "buoy/text/chat/jinja/jinja_evaluator.h"
#include "buoy/text/chat/jinja/jinja_filters.h"
#include "buoy/text/chat/jinja/jinja_functions.h"
#include "buoy/text/chat/jinja/jinja_operators.h"
#include "buoy/text/chat/jinja/jinja_tests.h"

namespace buoy::text::jinja {

Value Evaluator::evaluate(const Expression& node) {
  const Nested nested(runtime_.budget);
  runtime_.budget.spend_steps();
  line_ = node.line;
  return evaluate_node(node);
}

Value Evaluator::evaluate_node(const Expression& node) {
  const auto operand = [&](std::size_t i) { return evaluate(*node.operands[i]); };
  const auto operand_or_none = [&](std::size_t i) { return node.operands[i] ? operand(i) : Value(); };
  switch (node.kind) {
    case ExpressionKind::kConstant:
      return node.constant;
    case ExpressionKind::kName:
      return look_up(node.name);
    case ExpressionKind::kList:
    case ExpressionKind::kTuple: {
      Values items;
      for (std::size_t i = 0; i < node.operands.size(); ++i) items.push_back(operand(i));
      return node.kind == ExpressionKind::kList ? make_list(runtime_.budget, std::move(items))
                                                : make_tuple(runtime_.budget, std::move(items));
    }
    case ExpressionKind::kDict: {
      std::vector<std::pair<Value, Value>> entries;
      for (std::size_t i = 0; i + 1 < node.operands.size(); i += 2) {
        Value key = operand(i);
        set_key(runtime_.budget, entries, std::move(key), operand(i + 1));
      }
      return make_dict(runtime_.budget, std::move(entries));
    }
    case ExpressionKind::kAttribute: {
      const Value object = operand(0);
      line_ = node.line;
      return get_attribute(runtime_, object, node.name);
    }
    case ExpressionKind::kItem: {
      const Value object = operand(0), key = operand(1);
      line_ = node.line;
      return get_item(runtime_, object, key);
    }
    case ExpressionKind::kSlice: {
      const Value object = operand(0);
      const SliceBounds bounds{operand_or_none(1), operand_or_none(2), operand_or_none(3)};
      line_ = node.line;
      return get_slice(runtime_, object, bounds);
    }
    case ExpressionKind::kCall: {
      const Value callee = operand(0);
      const Arguments arguments = evaluate_arguments(node);
      line_ = node.line;
      return call(callee, arguments);
    }
    case ExpressionKind::kFilter:
      return evaluate_filter(node, nullptr);
    case ExpressionKind::kTest: {
      const Value input = operand(0);
      const Arguments arguments = evaluate_arguments(node);
      line_ = node.line;
      return Value(find_test(node.name)({runtime_, node.name, input, arguments}));
    }
    case ExpressionKind::kUnary: {
      const Value value = operand(0);
      line_ = node.line;
      if (node.name == "not") return Value(!truth(value));
      return node.name == "-" ? negative(value) : negative(negative(value));
    }
    case ExpressionKind::kBinary:
      return evaluate_binary(node);
    case ExpressionKind::kConcat: {
      std::string out;
      for (std::size_t i = 0; i < node.operands.size(); ++i) {
        const std::string part = printed(runtime_.budget, operand(i));
        runtime_.budget.spend_bytes(part.size());
        out += part;
      }
      return make_text(runtime_.budget, std::move(out));
    }
    case ExpressionKind::kCompare:
      return evaluate_compare(node);
    case ExpressionKind::kChoice:
      if (truth(operand(1))) return operand(0);
      if (node.operands[2]) return operand(2);
      return undefined_value("the value of an \"if\" without \"else\" is undefined");
  }
  throw Refusal("an expression without a meaning");
}

Value Evaluator::evaluate_binary(const Expression& node) {
  Value left = evaluate(*node.operands[0]);
  if (node.name == "and") return truth(left) ? evaluate(*node.operands[1]) : left;
  if (node.name == "or") return truth(left) ? left : evaluate(*node.operands[1]);
  const Value right = evaluate(*node.operands[1]);
  line_ = node.line;
  return arithmetic(runtime_.budget, node.name, left, right);
}

Value Evaluator::evaluate_compare(const Expression& node) {
  Value left = evaluate(*node.operands[0]);
  for (std::size_t i = 0; i < node.operators.size(); ++i) {
    Value right = evaluate(*node.operands[i + 1]);
    line_ = node.line;
    if (!compare_by(runtime_.budget, node.operators[i], left, right)) return Value(false);
    left = std::move(right);
  }
  return Value(true);
}

// `block` is what the innermost of a block's filters is given.
Value Evaluator::evaluate_filter(const Expression& node, const Value* block) {
  const Nested nested(runtime_.budget);
  Value input;
  if (node.operands.empty()) {
    input = *block;
  } else {
    const Expression& inner = *node.operands[0];
    input = block != nullptr ? evaluate_filter(inner, block) : evaluate(inner);
  }
  const Arguments arguments = evaluate_arguments(node);
  line_ = node.line;
  return find_filter(node.name)({runtime_, node.name, input, arguments});
}

Value Evaluator::look_up(const std::string& name) {
  for (const Scope* scope = scope_; scope != nullptr; scope = scope->outer) {
    runtime_.budget.spend_steps(scope->names.size() / 8);
    for (const auto& [known, value] : scope->names) {
      if (known == name) return value;
    }
  }
  if (const auto variable = variables_.find(name); variable != variables_.end()) return variable->second;
  if (const auto function = find_function(name)) return Value(*function);
  return undefined_value(name + " is undefined");
}

Arguments Evaluator::evaluate_arguments(const Expression& node) {
  Arguments arguments;
  for (const auto& argument : node.arguments) {
    Value value = evaluate(*argument.value);
    if (argument.name.empty()) {
      arguments.placed.push_back(std::move(value));
    } else {
      arguments.named.emplace_back(argument.name, std::move(value));
    }
  }
  return arguments;
}

Value Evaluator::call(const Value& callee, const Arguments& arguments) {
  if (callee.undefined()) throw Refusal("a call of something undefined: " + *callee.get<Undefined>()->why);
  if (const auto* function = callee.get<Function>()) return call_function(runtime_, *function, arguments);
  if (const auto* method = callee.get<Method>()) return call_method(runtime_, *method, arguments);
  if (const auto* macro = callee.get<MacroValue>()) return call_macro(*macro, arguments);
  throw Refusal("a call of " + type_name(callee));
}

Value Evaluator::call_macro(const MacroValue& value, const Arguments& arguments) {
  const Macro& macro = *value.macro;
  const std::string callee = "macro " + macro.name;
  if (arguments.placed.size() > macro.parameters.size()) throw Refusal("too many arguments for " + callee);
  const Nested nested(runtime_.budget);
  const Opened opened(*this, value.scope);
  std::size_t used = arguments.placed.size();
  for (std::size_t i = 0; i < macro.parameters.size(); ++i) {
    const Parameter& parameter = macro.parameters[i];
    const Value* given = i < arguments.placed.size() ? &arguments.placed[i] : nullptr;
    for (const auto& [name, named] : arguments.named) {
      if (given != nullptr || name != parameter.name) continue;
      given = &named;
      ++used;
    }
    Value bound;
    if (given != nullptr) {
      bound = *given;
    } else if (parameter.value) {
      bound = evaluate(*parameter.value);
    } else {
      bound = undefined_value("parameter " + parameter.name + " was not provided");
    }
    set_name(parameter.name, std::move(bound));
  }
  if (used != arguments.placed.size() + arguments.named.size())
    throw Refusal("arguments by name that " + callee + " does not take");
  return make_text(runtime_.budget, captured(macro.body));
}

}  // namespace buoy::text::jinja
