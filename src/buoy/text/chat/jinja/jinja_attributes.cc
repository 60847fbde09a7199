#include "buoy/text/chat/jinja/jinja_attributes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "buoy/text/chat/jinja/jinja_operators.h"
#include "buoy/text/python_text.h"

namespace buoy::text::jinja {
namespace {

using Names = std::initializer_list<std::string_view>;

bool is_among(const std::string& name, Names names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_known_method(const Value& object, const std::string& name) {
  if (object.is<Text>()) return is_text_method(name);
  if (object.dict() != nullptr) return is_among(name, {"get", "items", "keys", "values", "copy"});
  if (object.sequence() != nullptr) return is_among(name, {"count", "index"});
  if (object.loop() != nullptr) return is_among(name, {"cycle", "changed"});
  return false;
}

// What else Python's types have. Some of it would change the object, which HF's environment forbids.
bool is_other_attribute(const Value& object, const std::string& name) {
  if (object.is<Text>()) {
    return is_among(
        name, {"casefold", "center",     "encode",   "expandtabs",   "format_map", "isalnum",   "isalpha",
               "isascii",  "isdecimal",  "isdigit",  "isidentifier", "islower",    "isnumeric", "isprintable",
               "isspace",  "istitle",    "isupper",  "ljust",        "maketrans",  "partition", "rindex",
               "rjust",    "rpartition", "swapcase", "translate",    "zfill"});
  }
  if (object.dict() != nullptr)
    return is_among(name, {"clear", "fromkeys", "pop", "popitem", "setdefault", "update"});
  if (object.sequence() != nullptr) {
    return !object.sequence()->tuple && is_among(name, {"append", "clear", "copy", "extend", "insert", "pop",
                                                        "remove", "reverse", "sort"});
  }
  if (object.is<std::int64_t>() || object.is<bool>() || object.is<double>()) {
    return is_among(name,
                    {"as_integer_ratio", "bit_count", "bit_length", "conjugate", "denominator", "from_bytes",
                     "fromhex", "hex", "imag", "is_integer", "numerator", "real", "to_bytes"});
  }
  if (object.stream() != nullptr)
    return is_among(name, {"close", "count", "gi_code", "gi_frame", "gi_running", "gi_yieldfrom", "index",
                           "isdisjoint", "mapping", "send", "start", "step", "stop", "throw"});
  return object.is<MacroValue>() || object.is<Function>() || object.is<Method>();
}

std::optional<Value> loop_attribute(const Value& object, const std::string& name) {
  const Loop* loop = object.loop();
  if (loop == nullptr) return std::nullopt;
  const auto index = static_cast<std::int64_t>(loop->index),
             length = static_cast<std::int64_t>(loop->items.size());
  if (name == "index") return Value(index + 1);
  if (name == "index0") return Value(index);
  if (name == "revindex") return Value(length - index);
  if (name == "revindex0") return Value(length - index - 1);
  if (name == "first") return Value(index == 0);
  if (name == "last") return Value(index + 1 == length);
  if (name == "length") return Value(length);
  if (name == "depth") return Value(std::int64_t{1});  // only recursive loops go deeper
  if (name == "depth0") return Value(std::int64_t{0});
  if (name == "previtem")
    return index == 0 ? undefined_value("there is no previous item") : loop->items[loop->index - 1];
  if (name == "nextitem")
    return index + 1 == length ? undefined_value("there is no next item") : loop->items[loop->index + 1];
  return std::nullopt;
}

// A field or method of the object itself; nothing where there is none.
std::optional<Value> own_attribute(const Value& object, const std::string& name) {
  if (name.starts_with("__")) throw Refusal("attribute " + name + ", which Buoy does not know");
  if (const auto* space = object.name_space()) {
    for (const auto& [known, value] : space->attributes) {
      if (known == name) return value;
    }
    return std::nullopt;
  }
  if (auto value = loop_attribute(object, name)) return value;
  if (is_known_method(object, name)) return Value(Method{std::make_shared<const Value>(object), name});
  if (is_other_attribute(object, name))
    throw Refusal(fmt::format("attribute {} of {}, which Buoy does not know", name, type_name(object)));
  return std::nullopt;
}

const Values* indexed_items(const Value& object) {
  if (const auto* sequence = object.sequence()) return &sequence->items;
  if (const auto* stream = object.stream(); stream != nullptr && stream->kind == StreamKind::kRange)
    return &stream->items;
  return nullptr;
}

// object[key] alone; nothing where Python raises a TypeError or LookupError.
std::optional<Value> own_item(Runtime& runtime, const Value& object, const Value& key) {
  if (const auto* dict = object.dict()) {
    if (key.sequence() != nullptr || key.dict() != nullptr) return std::nullopt;
    const Value* found = find_key(runtime.budget, *dict, key);
    return found == nullptr ? std::nullopt : std::optional(*found);
  }
  const auto index = as_integer(key);
  if (!index) return std::nullopt;
  const auto place = [&](std::size_t length) -> std::optional<std::size_t> {
    const auto count = static_cast<std::int64_t>(length);
    if (*index >= count || *index < -count) return std::nullopt;
    return static_cast<std::size_t>(*index < 0 ? *index + count : *index);
  };
  if (const auto* items = indexed_items(object)) {
    const auto at = place(items->size());
    return at ? std::optional((*items)[*at]) : std::nullopt;
  }
  if (object.is<Text>()) {
    const std::string& text = plain_text(object);
    runtime.budget.spend_steps(1 + text.size() / 64);
    const auto at = place(count_characters(text));
    if (!at) return std::nullopt;
    const std::size_t begin = byte_of_character(text, *at), end = byte_of_character(text, *at + 1);
    return make_text(runtime.budget, text.substr(begin, end - begin));
  }
  return std::nullopt;
}

Value missing(const Value& object, const std::string& name) {
  return undefined_value(fmt::format("{} has no attribute {}", type_name(object), name));
}

void expect_defined(const Value& object) {
  if (object.undefined()) throw Refusal(*object.get<Undefined>()->why);
}

std::int64_t bound(const Value& value, std::int64_t otherwise) {
  if (value.none()) return otherwise;
  if (const auto integer = as_integer(value)) return *integer;
  expect_defined(value);
  throw Refusal("a slice with a bound of type " + type_name(value));
}

// The places a slice takes, as Python counts them.
std::vector<std::size_t> sliced_places(Runtime& runtime, std::size_t size, const SliceBounds& bounds) {
  const auto length = static_cast<std::int64_t>(size);
  const std::int64_t step = bound(bounds.step, 1);
  if (step == 0) throw Refusal("a slice with step 0");
  const auto clipped = [&](std::int64_t at) {
    if (at < 0) at = at < -length ? -1 : at + length;
    return step > 0 ? std::clamp<std::int64_t>(at, 0, length) : std::clamp<std::int64_t>(at, -1, length - 1);
  };
  const std::int64_t from = bounds.from.none() ? (step > 0 ? 0 : length - 1) : clipped(bound(bounds.from, 0));
  const std::int64_t to = bounds.to.none() ? (step > 0 ? length : -1) : clipped(bound(bounds.to, 0));
  std::vector<std::size_t> places;
  runtime.budget.spend_bytes(size * sizeof(std::size_t));
  for (std::int64_t at = from; step > 0 ? at < to : at > to;) {
    places.push_back(static_cast<std::size_t>(at));
    if (__builtin_add_overflow(at, step, &at)) break;
  }
  return places;
}

}  // namespace

Value get_attribute(Runtime& runtime, const Value& object, const std::string& name) {
  expect_defined(object);
  if (auto own = own_attribute(object, name)) return *std::move(own);
  if (object.dict() != nullptr) {
    if (auto item = own_item(runtime, object, make_text(runtime.budget, name))) return *std::move(item);
  }
  return missing(object, name);
}

Value get_item(Runtime& runtime, const Value& object, const Value& key) {
  expect_defined(object);
  if (auto item = own_item(runtime, object, key)) return *std::move(item);
  if (const auto* name = key.text()) {
    if (auto own = own_attribute(object, *name)) return *std::move(own);
  }
  return missing(object, printed(runtime.budget, key));
}

Value get_path(Runtime& runtime, Value object, const Value& path) {
  if (as_integer(path)) return get_item(runtime, object, path);
  const std::string& text = plain_text(path);
  for (const std::string_view part : split(text, {.separator = "."})) {
    std::int64_t index = 0;
    const char* end = part.data() + part.size();
    const bool digits = !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos;
    if (digits && std::from_chars(part.data(), end, index).ptr != end) throw Refusal("attribute " + text);
    object = get_item(runtime, object, digits ? Value(index) : make_text(runtime.budget, std::string(part)));
  }
  return object;
}

Value get_slice(Runtime& runtime, const Value& object, const SliceBounds& bounds) {
  expect_defined(object);
  if (object.is<Text>()) {
    const auto characters = characters_of(plain_text(object));
    std::string out;
    for (const std::size_t place : sliced_places(runtime, characters.size(), bounds))
      out += characters[place];
    return make_text(runtime.budget, std::move(out));
  }
  const auto* sequence = object.sequence();
  if (sequence == nullptr) throw Refusal("a slice of " + type_name(object) + ", which Buoy does not know");
  Values items;
  for (const std::size_t place : sliced_places(runtime, sequence->items.size(), bounds))
    items.push_back(sequence->items[place]);
  return sequence->tuple ? make_tuple(runtime.budget, std::move(items))
                         : make_list(runtime.budget, std::move(items));
}

namespace {

Value call_dict_method(Runtime& runtime, const Value& self, const std::string& name,
                       const Arguments& arguments) {
  const Dict& dict = *self.dict();
  if (name == "get") {
    const auto given = arguments.bind(name, {"key", "default"});
    if (given[0] == nullptr || !arguments.named.empty()) throw Refusal("get without a key");
    const Value* found = find_key(runtime.budget, dict, *given[0]);
    return found != nullptr ? *found : given[1] != nullptr ? *given[1] : Value();
  }
  arguments.bind(name, {});
  if (name == "copy") return self;
  Values items;
  for (const auto& [key, value] : dict.entries)
    items.push_back(name == "keys"     ? key
                    : name == "values" ? value
                                       : make_tuple(runtime.budget, {key, value}));
  const StreamKind kind = name == "keys"     ? StreamKind::kKeys
                          : name == "values" ? StreamKind::kValues
                                             : StreamKind::kItems;
  return make_stream(runtime.budget, kind, std::move(items));
}

Value call_sequence_method(Runtime& runtime, const Sequence& sequence, const std::string& name,
                           const Arguments& arguments) {
  const auto given = arguments.bind(name, {"value"});
  if (given[0] == nullptr || !arguments.named.empty()) throw Refusal(name + " without a value");
  std::int64_t count = 0;
  for (std::size_t i = 0; i < sequence.items.size(); ++i) {
    if (!equal(runtime.budget, sequence.items[i], *given[0])) continue;
    if (name == "index") return Value(static_cast<std::int64_t>(i));
    ++count;
  }
  if (name == "index") throw Refusal("index of a value that is not in the list");
  return Value(count);
}

}  // namespace

Value call_loop_method(Runtime& runtime, Loop& loop, const std::string& name, const Arguments& arguments) {
  if (!arguments.named.empty()) throw Refusal("arguments by name for loop." + name);
  if (name == "cycle") {
    if (arguments.placed.empty()) throw Refusal("loop.cycle without values");
    return arguments.placed[loop.index % arguments.placed.size()];
  }
  Value told = make_tuple(runtime.budget, arguments.placed);
  if (!is_plain(told)) throw Refusal("loop.changed of something that is no data");
  const bool changed = !loop.told || !equal(runtime.budget, loop.changed, told);
  loop.told = true;
  loop.changed = std::move(told);
  return Value(changed);
}

Value call_method(Runtime& runtime, const Method& method, const Arguments& arguments) {
  const Value& self = *method.self;
  if (self.is<Text>()) return call_text_method(runtime, plain_text(self), method.name, arguments);
  if (self.dict() != nullptr) return call_dict_method(runtime, self, method.name, arguments);
  if (auto* loop = self.loop()) return call_loop_method(runtime, *loop, method.name, arguments);
  return call_sequence_method(runtime, *self.sequence(), method.name, arguments);
}

}  // namespace buoy::text::jinja
