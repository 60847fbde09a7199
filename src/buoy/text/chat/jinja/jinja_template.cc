#include "buoy/text/chat/jinja/jinja_template.h"

#include <fmt/format.h>

#include "buoy/base/error.h"
#include "buoy/base/utf8.h"
#include "buoy/text/chat/jinja/jinja_lexer.h"
#include "buoy/text/chat/jinja/jinja_parser.h"

namespace buoy::text::jinja {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{1} << 20;  // the longest published one has 25,000

}  // namespace

Template Template::parse(std::string_view text, std::string name) {
  if (text.size() > kMaxBytes) {
    throw_input_error({name, fmt::format("a chat template of at most {} bytes", kMaxBytes),
                       fmt::format("{} bytes", text.size())});
  }
  if (const size_t stray = first_invalid_utf8(text); stray < text.size())
    throw_input_error({name, "well-formed UTF-8", fmt::format("a stray byte at offset {}", stray)});
  Template made;
  made.statements_ = std::make_shared<const Statements>(parse_template(text, name));
  made.name_ = std::move(name);
  return made;
}

std::string Template::render(const Variables& variables, const Date& date, const Limits& limits) const {
  Budget budget(limits);
  Runtime runtime{budget, date};
  Evaluator evaluator(variables, runtime);
  try {
    return evaluator.render(*statements_);
  } catch (const Refusal& refusal) {
    refuse_at(name_, evaluator.line(), refusal.what());
  }
}

}  // namespace buoy::text::jinja
