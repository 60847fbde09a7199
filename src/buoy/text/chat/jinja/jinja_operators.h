#pragma once

#include <optional>
#include <string>

#include "buoy/text/chat/jinja/jinja_value.h"

namespace buoy::text::jinja {

bool truth(const Value& value);
bool equal(Budget& budget, const Value& left, const Value& right);
// Negative, zero or positive. Refuses values that Python does not order.
int compare(Budget& budget, const Value& left, const Value& right);
bool contains(Budget& budget, const Value& container, const Value& item);

// "==", "!=", "<", "<=", ">", ">=", "in", "not in".
bool compare_by(Budget& budget, const std::string& name, const Value& left, const Value& right);
// "+", "-", "*", "/", "//", "%", "**".
Value arithmetic(Budget& budget, const std::string& name, const Value& left, const Value& right);
Value negative(const Value& value);

std::optional<std::int64_t> as_integer(const Value& value);  // of an int or a bool
std::optional<double> as_number(const Value& value);         // of an int, a bool or a float

// What Python wants a bool or an int for: "reverse", "keepends".
bool flag(const Value& value);

// How many items; refuses what has no length.
std::size_t length_of(const Value& value);
// All items: of lists, the keys of dicts, the characters of texts; none of what is undefined. What is left of
// a generator, which is used up then.
Values items_of(Budget& budget, const Value& value);

// The text that is printed of a value, and Python's repr of it.
std::string printed(Budget& budget, const Value& value);

// Refuses a text out of the filter "safe", whose rules Buoy does not know.
const std::string& plain_text(const Value& value);
// As the filters do it: of anything but text what is printed of it.
std::string soft_text(Budget& budget, const Value& value);

}  // namespace buoy::text::jinja
