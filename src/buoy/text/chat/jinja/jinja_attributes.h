#pragma once

#include <string>

#include "buoy/text/chat/jinja/jinja_arguments.h"

namespace buoy::text::jinja {

// object.name and object[key], by the rules of Jinja's sandbox: methods first for a name, items first for a
// key. Undefined where there is neither; refuses what Python has there and Buoy does not know.
Value get_attribute(Runtime& runtime, const Value& object, const std::string& name);
Value get_item(Runtime& runtime, const Value& object, const Value& key);
// "a.b.0" as filters take it: items of items.
Value get_path(Runtime& runtime, Value object, const Value& path);

struct SliceBounds {
  Value from, to, step;  // none where not given
};
Value get_slice(Runtime& runtime, const Value& object, const SliceBounds& bounds);

Value call_method(Runtime& runtime, const Method& method, const Arguments& arguments);

// The parts that belong to one type.
Value call_text_method(Runtime& runtime, const std::string& text, const std::string& name,
                       const Arguments& arguments);
bool is_text_method(const std::string& name);
Value call_loop_method(Runtime& runtime, Loop& loop, const std::string& name, const Arguments& arguments);

}  // namespace buoy::text::jinja
