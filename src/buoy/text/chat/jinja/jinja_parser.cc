#include "buoy/text/chat/jinja/jinja_parser.h"

#include <initializer_list>

#include "buoy/text/chat/jinja/jinja_expression_parser.h"

namespace buoy::text::jinja {
namespace {

std::unique_ptr<Statement> make(StatementKind kind, int line) {
  auto made = std::make_unique<Statement>();
  made->kind = kind;
  made->line = line;
  return made;
}

class Parser {
 public:
  explicit Parser(TokenStream& tokens) : tokens_(tokens), expressions_(tokens) {}

  Statements all() { return statements({}); }

 private:
  // Up to one of the tags named, whose name is the current token then; to the end where none is named.
  Statements statements(std::initializer_list<std::string_view> ends) {
    const TokenStream::Level level(tokens_);
    Statements out;
    while (!tokens_.at(TokenKind::kEnd)) {
      const int line = tokens_.current().line;
      if (tokens_.at(TokenKind::kData)) {
        auto text = make(StatementKind::kText, line);
        text->text = tokens_.take().text;
        out.push_back(std::move(text));
        continue;
      }
      if (tokens_.at(TokenKind::kPrintBegin)) {
        tokens_.take();
        auto print = make(StatementKind::kPrint, line);
        print->expression = expressions_.expressions();
        tokens_.expect(TokenKind::kPrintEnd, "}}");
        out.push_back(std::move(print));
        continue;
      }
      tokens_.expect(TokenKind::kBlockBegin, "a tag");
      for (const std::string_view end : ends) {
        if (tokens_.at_name(end)) return out;
      }
      out.push_back(statement());
    }
    if (ends.size() > 0) tokens_.refuse("no {% " + std::string(*(ends.end() - 1)) + " %}");
    return out;
  }

  void end_tag() { tokens_.expect(TokenKind::kBlockEnd, "%}"); }

  // The body of a block that ends with {% end %}, which is passed.
  Statements body_until(std::string_view end) {
    end_tag();
    Statements body = statements({end});
    tokens_.take();
    end_tag();
    return body;
  }

  // In a body that is no part of the loop around it.
  Statements own_body_until(std::string_view end) {
    const int loops = std::exchange(loops_, 0);
    Statements body = body_until(end);
    loops_ = loops;
    return body;
  }

  std::unique_ptr<Statement> statement() {
    const int line = tokens_.current().line;
    if (!tokens_.at(TokenKind::kName)) tokens_.refuse("a tag without a name");
    const std::string name = tokens_.current().text;
    if (name == "if") return tokens_.take(), if_statement(line);
    if (name == "for") return tokens_.take(), for_statement(line);
    if (name == "set") return tokens_.take(), set_statement(line);
    if (name == "macro") return tokens_.take(), macro_statement(line);
    if (name == "with") return tokens_.take(), with_statement(line);
    if (name == "filter") return tokens_.take(), filter_statement(line);
    if (name == "generation") {  // HF's own: what the model is trained to write
      tokens_.take();
      auto made = make(StatementKind::kScope, line);
      made->body = own_body_until("endgeneration");
      return made;
    }
    if (name == "break" || name == "continue") {
      if (loops_ == 0) tokens_.refuse(name + " outside of a loop");
      tokens_.take();
      end_tag();
      return make(name == "break" ? StatementKind::kBreak : StatementKind::kContinue, line);
    }
    tokens_.refuse("tag " + name + ", which Buoy does not know");
  }

  std::unique_ptr<Statement> if_statement(int line) {
    auto made = make(StatementKind::kIf, line);
    for (bool more = true; more;) {
      Branch branch;
      branch.condition = expressions_.expressions(false);
      end_tag();
      branch.body = statements({"elif", "else", "endif"});
      made->branches.push_back(std::move(branch));
      more = tokens_.skip_name("elif");
    }
    if (tokens_.skip_name("else")) {
      made->branches.push_back({nullptr, body_until("endif")});
      return made;
    }
    tokens_.take();
    end_tag();
    return made;
  }

  Target name_target() {
    const std::string name = tokens_.expect_name();
    for (const char* constant : {"true", "false", "none", "True", "False", "None"}) {
      if (name == constant) tokens_.refuse("a value set to " + name);
    }
    return {name, "", {}};
  }

  Target target_part() {
    if (!tokens_.skip_operator("(")) return name_target();
    const TokenStream::Level level(tokens_);
    Target inside = target(false);
    tokens_.expect_operator(")");
    return inside;
  }

  Target target(bool with_namespace) {
    if (with_namespace && tokens_.following().kind == TokenKind::kOperator &&
        tokens_.following().text == ".") {
      Target made = name_target();
      tokens_.take();
      made.attribute = tokens_.expect_name();
      return made;
    }
    Target first = target_part();
    if (!tokens_.at_operator(",")) return first;
    Target made;
    made.parts.push_back(std::move(first));
    while (tokens_.skip_operator(",")) {
      if (tokens_.at_name("in") || tokens_.at_operator("=") || tokens_.at_operator(")")) break;
      made.parts.push_back(target_part());
    }
    return made;
  }

  std::unique_ptr<Statement> for_statement(int line) {
    auto made = make(StatementKind::kFor, line);
    made->targets.push_back(target(false));
    if (!tokens_.skip_name("in")) tokens_.refuse("a loop without \"in\"");
    made->expression = expressions_.expressions(false);
    if (tokens_.skip_name("if")) made->condition = expressions_.expression();
    if (tokens_.at_name("recursive")) tokens_.refuse("a recursive loop, which Buoy does not know");
    end_tag();
    ++loops_;
    made->body = statements({"else", "endfor"});
    --loops_;
    if (tokens_.skip_name("else")) {
      made->otherwise = body_until("endfor");
      return made;
    }
    tokens_.take();
    end_tag();
    return made;
  }

  std::unique_ptr<Statement> set_statement(int line) {
    auto made = make(StatementKind::kSet, line);
    made->targets.push_back(target(true));
    if (tokens_.skip_operator("=")) {
      made->expression = expressions_.expressions();
      end_tag();
      return made;
    }
    made->kind = StatementKind::kSetBlock;
    made->expression = expressions_.block_filters();
    made->body = own_body_until("endset");
    return made;
  }

  std::unique_ptr<Statement> macro_statement(int line) {
    auto made = make(StatementKind::kMacro, line);
    auto macro = std::make_shared<Macro>();
    macro->name = name_target().name;
    tokens_.expect_operator("(");
    std::vector<std::string> names;
    while (!tokens_.at_operator(")")) {
      if (!names.empty()) tokens_.expect_operator(",");
      if (tokens_.at_operator(")")) break;
      Parameter parameter{name_target().name, nullptr};
      if (tokens_.skip_operator("=")) {
        parameter.value = expressions_.expression();
      } else if (!macro->parameters.empty() && macro->parameters.back().value) {
        tokens_.refuse("a parameter without a default behind one with a default");
      }
      for (const auto& known : names) {
        if (known == parameter.name) tokens_.refuse("parameter " + known + " twice");
      }
      names.push_back(parameter.name);
      macro->parameters.push_back(std::move(parameter));
    }
    tokens_.expect_operator(")");
    expressions_.enter_macro(std::move(names));
    macro->body = own_body_until("endmacro");
    expressions_.leave_macro();
    made->macro = std::move(macro);
    return made;
  }

  std::unique_ptr<Statement> with_statement(int line) {
    auto made = make(StatementKind::kWith, line);
    while (!tokens_.at(TokenKind::kBlockEnd)) {
      if (!made->targets.empty()) tokens_.expect_operator(",");
      made->targets.push_back(name_target());
      tokens_.expect_operator("=");
      made->values.push_back(expressions_.expression());
    }
    made->body = own_body_until("endwith");
    return made;
  }

  std::unique_ptr<Statement> filter_statement(int line) {
    auto made = make(StatementKind::kFilterBlock, line);
    made->expression = expressions_.first_block_filter();
    made->body = own_body_until("endfilter");
    return made;
  }

  TokenStream& tokens_;
  ExpressionParser expressions_;
  int loops_ = 0;
};

}  // namespace

Statements parse_template(std::string_view text, const std::string& name) {
  TokenStream tokens(read_tokens(text, name), name);
  return Parser(tokens).all();
}

}  // namespace buoy::text::jinja
