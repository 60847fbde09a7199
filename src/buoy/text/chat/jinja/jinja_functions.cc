#include "buoy/text/chat/jinja/jinja_functions.h"

#include <fmt/format.h>

#include <array>
#include <map>

#include "buoy/text/chat/jinja/jinja_operators.h"

namespace buoy::text::jinja {
namespace {

constexpr std::int64_t kMaxRange = 100000;  // the sandbox's

Value range(Runtime& runtime, const Arguments& arguments) {
  const auto& given = arguments.placed;
  if (given.empty() || given.size() > 3 || !arguments.named.empty())
    throw Refusal("range without 1 to 3 numbers");
  std::array<std::int64_t, 3> numbers = {0, 0, 1};
  for (std::size_t i = 0; i < given.size(); ++i) {
    const auto number = as_integer(given[i]);
    if (!number) {
      if (given[i].undefined()) throw Refusal(*given[i].get<Undefined>()->why);
      throw Refusal("range of " + type_name(given[i]));
    }
    numbers[given.size() == 1 ? 1 : i] = *number;
  }
  const auto [from, to, step] = numbers;
  if (step == 0) throw Refusal("range with step 0");
  Values items;
  for (std::int64_t at = from; step > 0 ? at < to : at > to;) {
    if (static_cast<std::int64_t>(items.size()) == kMaxRange)
      throw Refusal("a range of more than 100000 numbers");
    items.push_back(Value(at));
    if (__builtin_add_overflow(at, step, &at)) break;
  }
  return make_stream(runtime.budget, StreamKind::kRange, std::move(items));
}

Value dict(Runtime& runtime, const Arguments& arguments) {
  std::vector<std::pair<Value, Value>> entries;
  if (arguments.placed.size() > 1) throw Refusal("dict with more than one argument");
  if (!arguments.placed.empty()) {
    const auto* given = arguments.placed[0].dict();
    if (given == nullptr) throw Refusal("dict of " + type_name(arguments.placed[0]));
    entries = given->entries;
  }
  for (const auto& [name, value] : arguments.named)
    set_key(runtime.budget, entries, make_text(runtime.budget, name), value);
  return make_dict(runtime.budget, std::move(entries));
}

Value name_space(Runtime& runtime, const Arguments& arguments) {
  auto made = std::make_shared<Namespace>();
  const auto add = [&](const std::string& name, const Value& value) {
    if (!is_plain(value)) throw Refusal("a namespace with " + type_name(value) + " in it");
    for (auto& [known, old] : made->attributes) {
      if (known == name) return void(old = value);
    }
    made->attributes.emplace_back(name, value);
  };
  if (arguments.placed.size() > 1) throw Refusal("namespace with more than one argument");
  if (!arguments.placed.empty()) {
    const auto* given = arguments.placed[0].dict();
    if (given == nullptr) throw Refusal("namespace of " + type_name(arguments.placed[0]));
    for (const auto& [key, value] : given->entries) add(plain_text(key), value);
  }
  for (const auto& [name, value] : arguments.named) add(name, value);
  runtime.budget.spend_bytes(64);
  return Value(std::move(made));
}

}  // namespace

std::optional<Function> find_function(const std::string& name) {
  static const std::map<std::string, Function> functions = {{"range", Function::kRange},
                                                            {"dict", Function::kDict},
                                                            {"namespace", Function::kNamespace},
                                                            {"raise_exception", Function::kRaiseException},
                                                            {"strftime_now", Function::kStrftimeNow}};
  for (const char* other : {"lipsum", "cycler", "joiner"}) {
    if (name == other) refuse_unknown("function " + name);
  }
  const auto found = functions.find(name);
  return found == functions.end() ? std::nullopt : std::optional(found->second);
}

Value call_function(Runtime& runtime, Function function, const Arguments& arguments) {
  switch (function) {
    case Function::kRange:
      return range(runtime, arguments);
    case Function::kDict:
      return dict(runtime, arguments);
    case Function::kNamespace:
      return name_space(runtime, arguments);
    case Function::kRaiseException: {
      const auto given = arguments.bind("raise_exception", {"message"});
      throw Refusal("a conversation the template refuses: " +
                    (given[0] == nullptr ? std::string() : printed(runtime.budget, *given[0])));
    }
    case Function::kStrftimeNow: {
      const auto given = arguments.bind("strftime_now", {"format"});
      if (given[0] == nullptr) throw Refusal("strftime_now without a format");
      return make_text(runtime.budget, format_date(runtime.date, plain_text(*given[0])));
    }
  }
  throw Refusal("a function without a meaning");
}

}  // namespace buoy::text::jinja
