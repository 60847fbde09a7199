#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "buoy/text/chat/jinja/jinja_arguments.h"
#include "buoy/text/chat/jinja/jinja_syntax.h"

namespace buoy::text::jinja {

using Variables = std::map<std::string, Value>;

// The names set in one loop round, macro or block; others are looked for further out.
struct Scope {
  Scope* outer = nullptr;
  bool kept = false;  // a macro was defined in it and may be called later
  std::vector<std::pair<std::string, Value>> names;
};

// Renders the statements of one template, once.
class Evaluator {
 public:
  Evaluator(const Variables& variables, Runtime& runtime) : variables_(variables), runtime_(runtime) {}

  std::string render(const Statements& statements);
  int line() const { return line_; }  // where it is, or stopped

 private:
  enum class Flow { kNext, kBreak, kContinue };

  // Ends a scope; one that is kept goes to kept_.
  class Opened {
   public:
    explicit Opened(Evaluator& evaluator) : Opened(evaluator, evaluator.scope_) {}
    Opened(Evaluator& evaluator, Scope* outer);
    ~Opened();
    Opened(const Opened&) = delete;
    Opened& operator=(const Opened&) = delete;

   private:
    Evaluator& evaluator_;
    Scope* before_;
    std::unique_ptr<Scope> scope_;
  };

  // Statements: jinja_execute.cc.
  Flow execute(const Statements& statements);
  Flow execute(const Statement& statement);
  Flow execute_if(const Statement& statement);
  Flow execute_for(const Statement& statement);
  void execute_with(const Statement& statement);
  void define_macro(const Statement& statement);
  std::string captured(const Statements& body);
  Value captured_block(const Statement& statement);
  void assign(const Target& target, const Value& value);
  void set_name(const std::string& name, Value value);
  void emit(std::string_view text);

  // Expressions: jinja_evaluate.cc.
  Value evaluate(const Expression& node);
  Value evaluate_node(const Expression& node);
  Value evaluate_binary(const Expression& node);
  Value evaluate_compare(const Expression& node);
  Value evaluate_filter(const Expression& node, const Value* block);
  Value look_up(const std::string& name);
  Arguments evaluate_arguments(const Expression& node);
  Value call(const Value& callee, const Arguments& arguments);
  Value call_macro(const MacroValue& macro, const Arguments& arguments);

  const Variables& variables_;
  Runtime& runtime_;
  Scope* scope_ = nullptr;
  std::vector<std::unique_ptr<Scope>> kept_;
  std::string* out_ = nullptr;
  int line_ = 0;
};

}  // namespace buoy::text::jinja
