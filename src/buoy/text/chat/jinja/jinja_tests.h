#pragma once

#include <string>

#include "buoy/text/chat/jinja/jinja_arguments.h"

namespace buoy::text::jinja {

struct TestCall {
  Runtime& runtime;
  const std::string& name;
  const Value& input;
  const Arguments& arguments;

  const Value& other() const;  // the one argument
};

using Test = bool (*)(const TestCall&);

// By its name; null when Buoy does not know it.
Test find_test(const std::string& name);

}  // namespace buoy::text::jinja
