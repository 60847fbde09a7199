#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "buoy/text/chat/jinja/jinja_evaluator.h"

namespace buoy::text::jinja {

// A template in the part of the Jinja language that published chat templates use, read and rendered as
// HF's transformers do it (docs/chat-templates.md). Whatever Buoy does not know is refused by name.
class Template {
 public:
  // `name` is the file named in errors. InputError with file, line and construct.
  static Template parse(std::string_view text, std::string name);

  // InputError: what is not known, what the template refuses, what takes more than `limits`.
  std::string render(const Variables& variables, const Date& date, const Limits& limits = {}) const;

  const std::string& name() const { return name_; }

 private:
  std::string name_;
  std::shared_ptr<const Statements> statements_;
};

}  // namespace buoy::text::jinja
