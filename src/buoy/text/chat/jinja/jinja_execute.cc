#include <algorithm>

#include "buoy/text/chat/jinja/jinja_evaluator.h"
#include "buoy/text/chat/jinja/jinja_operators.h"

namespace buoy::text::jinja {

Evaluator::Opened::Opened(Evaluator& evaluator, Scope* outer)
    : evaluator_(evaluator), before_(evaluator.scope_), scope_(std::make_unique<Scope>()) {
  scope_->outer = outer;
  evaluator_.scope_ = scope_.get();
}

Evaluator::Opened::~Opened() {
  evaluator_.scope_ = before_;
  if (scope_->kept) evaluator_.kept_.push_back(std::move(scope_));
}

std::string Evaluator::render(const Statements& statements) {
  std::string out;
  out_ = &out;
  const Opened opened(*this);
  execute(statements);
  return out;
}

void Evaluator::emit(std::string_view text) {
  runtime_.budget.spend_bytes(text.size());
  *out_ += text;
}

Evaluator::Flow Evaluator::execute(const Statements& statements) {
  for (const auto& statement : statements) {
    const Flow flow = execute(*statement);
    if (flow != Flow::kNext) return flow;
  }
  return Flow::kNext;
}

Evaluator::Flow Evaluator::execute(const Statement& statement) {
  const Nested nested(runtime_.budget);
  runtime_.budget.spend_steps();
  line_ = statement.line;
  switch (statement.kind) {
    case StatementKind::kText:
      emit(statement.text);
      return Flow::kNext;
    case StatementKind::kPrint:
      emit(printed(runtime_.budget, evaluate(*statement.expression)));
      return Flow::kNext;
    case StatementKind::kIf:
      return execute_if(statement);
    case StatementKind::kFor:
      return execute_for(statement);
    case StatementKind::kSet:
      assign(statement.targets[0], evaluate(*statement.expression));
      return Flow::kNext;
    case StatementKind::kSetBlock:
      assign(statement.targets[0], captured_block(statement));
      return Flow::kNext;
    case StatementKind::kFilterBlock:
      emit(printed(runtime_.budget, captured_block(statement)));
      return Flow::kNext;
    case StatementKind::kMacro:
      define_macro(statement);
      return Flow::kNext;
    case StatementKind::kWith:
      execute_with(statement);
      return Flow::kNext;
    case StatementKind::kScope: {
      const Opened opened(*this);
      emit(captured(statement.body));
      return Flow::kNext;
    }
    case StatementKind::kBreak:
      return Flow::kBreak;
    case StatementKind::kContinue:
      return Flow::kContinue;
  }
  throw Refusal("a statement without a meaning");
}

Evaluator::Flow Evaluator::execute_if(const Statement& statement) {
  for (const Branch& branch : statement.branches) {
    if (!branch.condition || truth(evaluate(*branch.condition))) return execute(branch.body);
  }
  return Flow::kNext;
}

Evaluator::Flow Evaluator::execute_for(const Statement& statement) {
  const Value walked = evaluate(*statement.expression);
  if (walked.loop() != nullptr) throw Refusal("a loop over loop, which Buoy does not know");
  Values items = items_of(runtime_.budget, walked);
  if (statement.condition) {
    Values kept;
    for (Value& item : items) {
      const Opened opened(*this);
      assign(statement.targets[0], item);
      if (truth(evaluate(*statement.condition))) kept.push_back(std::move(item));
    }
    items = std::move(kept);
  }
  if (items.empty()) {
    const Opened opened(*this);
    return execute(statement.otherwise);
  }
  const auto loop = std::make_shared<Loop>();
  loop->items = std::move(items);
  for (; loop->index < loop->items.size(); ++loop->index) {
    runtime_.budget.spend_steps();
    const Opened opened(*this);
    set_name("loop", Value(loop));
    assign(statement.targets[0], loop->items[loop->index]);
    if (execute(statement.body) == Flow::kBreak) break;
  }
  return Flow::kNext;
}

void Evaluator::execute_with(const Statement& statement) {
  std::vector<Value> values;
  for (const auto& value : statement.values) values.push_back(evaluate(*value));
  const Opened opened(*this);
  for (std::size_t i = 0; i < values.size(); ++i) assign(statement.targets[i], values[i]);
  execute(statement.body);
}

void Evaluator::define_macro(const Statement& statement) {
  for (Scope* scope = scope_; scope != nullptr && !scope->kept; scope = scope->outer) scope->kept = true;
  runtime_.budget.spend_bytes(256);
  set_name(statement.macro->name, Value(MacroValue{statement.macro.get(), scope_}));
}

std::string Evaluator::captured(const Statements& body) {
  std::string out;
  std::string* const before = std::exchange(out_, &out);
  try {
    execute(body);
  } catch (...) {
    out_ = before;
    throw;
  }
  out_ = before;
  return out;
}

Value Evaluator::captured_block(const Statement& statement) {
  Value text;
  {
    const Opened opened(*this);
    text = make_text(runtime_.budget, captured(statement.body));
  }
  return statement.expression ? evaluate_filter(*statement.expression, &text) : text;
}

void Evaluator::assign(const Target& target, const Value& value) {
  if (!target.parts.empty()) {
    const Values items = items_of(runtime_.budget, value);
    if (items.size() != target.parts.size())
      throw Refusal("a value of other parts than the names it is set to");
    for (std::size_t i = 0; i < items.size(); ++i) assign(target.parts[i], items[i]);
    return;
  }
  if (target.attribute.empty()) return set_name(target.name, value);
  const Value space = look_up(target.name);
  if (space.name_space() == nullptr) throw Refusal("an attribute set on " + type_name(space));
  if (!is_plain(value))
    throw Refusal("a namespace with " + type_name(value) + " in it, which Buoy does not know");
  auto& attributes = space.name_space()->attributes;
  for (auto& [name, old] : attributes) {
    if (name == target.attribute) {
      old = value;
      return;
    }
  }
  attributes.emplace_back(target.attribute, value);
}

void Evaluator::set_name(const std::string& name, Value value) {
  runtime_.budget.spend_bytes(sizeof(Value) + name.size());
  for (auto& [known, old] : scope_->names) {
    if (known == name) {
      old = std::move(value);
      return;
    }
  }
  scope_->names.emplace_back(name, std::move(value));
}

}  // namespace buoy::text::jinja
