#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "buoy/text/chat/jinja/jinja_attributes.h"
#include "buoy/text/chat/jinja/jinja_filters.h"
#include "buoy/text/chat/jinja/jinja_operators.h"
#include "buoy/text/chat/jinja/jinja_tests.h"
#include "buoy/text/python_text.h"

namespace buoy::text::jinja {
namespace {

Values input_items(const FilterCall& call) {
  return items_of(call.runtime.budget, call.input);
}

Value length(const FilterCall& call) {
  call.bind({});
  return Value(static_cast<std::int64_t>(length_of(call.input)));
}

Value list(const FilterCall& call) {
  call.bind({});
  return make_list(call.runtime.budget, input_items(call));
}

Value first(const FilterCall& call) {
  call.bind({});
  if (const auto* stream = call.input.stream(); stream != nullptr && stream->kind == StreamKind::kGenerator) {
    auto* rest = call.input.stream();
    if (rest->next >= rest->items.size()) return undefined_value("No first item, sequence was empty.");
    return rest->items[rest->next++];
  }
  const Values items = input_items(call);
  return items.empty() ? undefined_value("No first item, sequence was empty.") : items.front();
}

Value last(const FilterCall& call) {
  call.bind({});
  if (const auto* stream = call.input.stream(); stream != nullptr && stream->kind == StreamKind::kGenerator)
    throw Refusal("filter last of generator");
  const Values items = input_items(call);
  return items.empty() ? undefined_value("No last item, sequence was empty.") : items.back();
}

Value reversed(const FilterCall& call) {
  call.bind({});
  if (call.input.is<Text>()) {
    std::string out;
    const auto characters = characters_of(plain_text(call.input));
    for (auto character = characters.rbegin(); character != characters.rend(); ++character) out += *character;
    return make_text(call.runtime.budget, std::move(out));
  }
  Values items = input_items(call);
  std::reverse(items.begin(), items.end());
  return make_stream(call.runtime.budget, StreamKind::kGenerator, std::move(items));
}

Value items(const FilterCall& call) {
  call.bind({});
  Values pairs;
  if (const auto* dict = call.input.dict()) {
    for (const auto& [key, value] : dict->entries)
      pairs.push_back(make_tuple(call.runtime.budget, {key, value}));
  } else if (!call.input.undefined()) {
    throw Refusal("filter items of " + type_name(call.input));
  }
  return make_stream(call.runtime.budget, StreamKind::kGenerator, std::move(pairs));
}

Value join(const FilterCall& call) {
  const auto given = call.bind({"d", "attribute"});
  Budget& budget = call.runtime.budget;
  const std::string between = given[0] != nullptr ? soft_text(budget, *given[0]) : "";
  std::string out;
  bool begun = false;
  for (const Value& item : input_items(call)) {
    if (begun) out += between;
    begun = true;
    const bool by_path = given[1] != nullptr && !given[1]->none();
    const std::string text = soft_text(budget, by_path ? get_path(call.runtime, item, *given[1]) : item);
    budget.spend_bytes(between.size() + text.size());
    out += text;
  }
  return make_text(budget, std::move(out));
}

// What is compared of an item: small letters unless told otherwise.
Value sort_key(const FilterCall& call, const Value& item, const Value* attribute,
               const Value* case_sensitive) {
  const bool by_path = attribute != nullptr && !attribute->none();
  if (by_path && attribute->is<Text>() && plain_text(*attribute).find(',') != std::string::npos)
    throw Refusal("filter " + call.name + " by several attributes");
  Value key = by_path ? get_path(call.runtime, item, *attribute) : item;
  if (!key.is<Text>() || (case_sensitive != nullptr && truth(*case_sensitive))) return key;
  auto small = lower_case(plain_text(key));
  if (!small) throw Refusal("filter " + call.name + " of a letter whose case Buoy does not know");
  return make_text(call.runtime.budget, *std::move(small));
}

struct Keyed {
  Value key, item;
};

// Stable, as Python sorts, in the other direction too.
void sort_by_key(Budget& budget, std::vector<Keyed>& keyed, bool descending) {
  std::stable_sort(keyed.begin(), keyed.end(), [&](const Keyed& a, const Keyed& b) {
    const int order = compare(budget, a.key, b.key);
    return descending ? order > 0 : order < 0;
  });
}

Value items_in_order(const FilterCall& call, std::vector<Keyed> keyed, const Value* descending) {
  sort_by_key(call.runtime.budget, keyed, descending != nullptr && flag(*descending));
  Values out;
  for (Keyed& one : keyed) out.push_back(std::move(one.item));
  return make_list(call.runtime.budget, std::move(out));
}

Value sorted(const FilterCall& call) {
  const auto given = call.bind({"reverse", "case_sensitive", "attribute"});
  std::vector<Keyed> keyed;
  for (Value& item : input_items(call))
    keyed.push_back({sort_key(call, item, given[2], given[1]), std::move(item)});
  return items_in_order(call, std::move(keyed), given[0]);
}

Value dict_sorted(const FilterCall& call) {
  const auto given = call.bind({"case_sensitive", "by", "reverse"});
  const std::string by = given[1] == nullptr ? "key" : plain_text(*given[1]);
  if (by != "key" && by != "value") throw Refusal("filter dictsort by something else than key or value");
  const auto* dict = call.input.dict();
  if (dict == nullptr) throw Refusal("filter dictsort of " + type_name(call.input));
  std::vector<Keyed> keyed;
  for (const auto& [key, value] : dict->entries) {
    keyed.push_back({sort_key(call, by == "key" ? key : value, nullptr, given[0]),
                     make_tuple(call.runtime.budget, {key, value})});
  }
  return items_in_order(call, std::move(keyed), given[2]);
}

Value extreme(const FilterCall& call) {
  const auto given = call.bind({"case_sensitive", "attribute"});
  const Values all = input_items(call);
  if (all.empty()) return undefined_value("No aggregated item, sequence was empty.");
  std::size_t best = 0;
  Value best_key = sort_key(call, all[0], given[1], given[0]);
  for (std::size_t i = 1; i < all.size(); ++i) {
    Value key = sort_key(call, all[i], given[1], given[0]);
    const int order = compare(call.runtime.budget, key, best_key);
    if (call.name == "max" ? order <= 0 : order >= 0) continue;
    best = i;
    best_key = std::move(key);
  }
  return all[best];
}

Value sum(const FilterCall& call) {
  const auto given = call.bind({"attribute", "start"});
  Value total = given[1] != nullptr ? *given[1] : Value(std::int64_t{0});
  if (total.is<Text>()) throw Refusal("filter sum of text");
  for (const Value& item : input_items(call)) {
    const bool by_path = given[0] != nullptr && !given[0]->none();
    total =
        arithmetic(call.runtime.budget, "+", total, by_path ? get_path(call.runtime, item, *given[0]) : item);
  }
  return total;
}

Value unique(const FilterCall& call) {
  const auto given = call.bind({"case_sensitive", "attribute"});
  Values keys, out;
  for (const Value& item : input_items(call)) {
    Value key = sort_key(call, item, given[1], given[0]);
    const bool known = std::any_of(
        keys.begin(), keys.end(), [&](const Value& other) { return equal(call.runtime.budget, other, key); });
    if (known) continue;
    keys.push_back(std::move(key));
    out.push_back(item);
  }
  return make_stream(call.runtime.budget, StreamKind::kGenerator, std::move(out));
}

Value mapped(const FilterCall& call) {
  Values out;
  if (!truth(call.input)) return make_stream(call.runtime.budget, StreamKind::kGenerator, {});
  if (call.arguments.placed.empty()) {
    const auto given = call.bind({"attribute", "default"});
    if (given[0] == nullptr) throw Refusal("filter map without a filter or an attribute");
    for (const Value& item : input_items(call)) {
      Value value = get_path(call.runtime, item, *given[0]);
      if (given[1] != nullptr && !given[1]->none() && value.undefined()) value = *given[1];
      out.push_back(std::move(value));
    }
  } else {
    const std::string& name = plain_text(call.arguments.placed[0]);
    const Filter filter = find_filter(name);
    if (filter == nullptr) refuse_unknown("filter " + name);
    const Nested nested(call.runtime.budget);
    const Arguments rest{Values(call.arguments.placed.begin() + 1, call.arguments.placed.end()),
                         call.arguments.named};
    for (const Value& item : input_items(call)) out.push_back(filter({call.runtime, name, item, rest}));
  }
  return make_stream(call.runtime.budget, StreamKind::kGenerator, std::move(out));
}

// select, reject, selectattr, rejectattr.
Value selected(const FilterCall& call) {
  const bool by_attribute = call.name.ends_with("attr"), keep = call.name.starts_with("select");
  const Values& placed = call.arguments.placed;
  const std::size_t at = by_attribute ? 1 : 0;
  if (!truth(call.input)) return make_stream(call.runtime.budget, StreamKind::kGenerator, {});
  if (placed.size() < at) throw Refusal("filter " + call.name + " without an attribute");
  std::string name;
  Test test = nullptr;
  if (placed.size() > at) {
    name = plain_text(placed[at]);
    test = find_test(name);
    if (test == nullptr) refuse_unknown("test " + name);
  } else if (!call.arguments.named.empty()) {
    throw Refusal("arguments by name for filter " + call.name);
  }
  Arguments rest;
  if (placed.size() > at)
    rest = {Values(placed.begin() + static_cast<std::ptrdiff_t>(at) + 1, placed.end()), call.arguments.named};
  Values out;
  for (const Value& item : input_items(call)) {
    const Value value = by_attribute ? get_path(call.runtime, item, placed[0]) : item;
    const bool holds = test != nullptr ? test({call.runtime, name, value, rest}) : truth(value);
    if (holds == keep) out.push_back(item);
  }
  return make_stream(call.runtime.budget, StreamKind::kGenerator, std::move(out));
}

}  // namespace

Filter find_item_filter(const std::string& name) {
  static const std::map<std::string, Filter> filters = {
      {"length", length},   {"count", length},         {"list", list},           {"first", first},
      {"last", last},       {"reverse", reversed},     {"items", items},         {"join", join},
      {"sort", sorted},     {"dictsort", dict_sorted}, {"min", extreme},         {"max", extreme},
      {"sum", sum},         {"unique", unique},        {"map", mapped},          {"select", selected},
      {"reject", selected}, {"selectattr", selected},  {"rejectattr", selected},
  };
  const auto found = filters.find(name);
  return found == filters.end() ? nullptr : found->second;
}

}  // namespace buoy::text::jinja
