#include "buoy/text/chat/jinja/jinja_value.h"

#include <algorithm>

#include "buoy/text/chat/jinja/jinja_operators.h"

namespace buoy::text::jinja {
namespace {

constexpr int kMaxDepth = 100;

struct Nature {
  int depth = 0;
  bool plain = true;
};

Nature nature_of(const Value& value) {
  if (const auto* sequence = value.sequence()) return {sequence->depth, sequence->plain};
  if (const auto* dict = value.dict()) return {dict->depth, dict->plain};
  if (const auto* stream = value.stream()) return {stream->depth, stream->plain};
  const bool data = value.undefined() || value.none() || value.is<bool>() || value.is<std::int64_t>() ||
                    value.is<double>() || value.is<Text>();
  return {0, data};
}

template <typename Container>
void add_nature(Container& container, const Value& item) {
  const Nature nature = nature_of(item);
  if (nature.depth >= kMaxDepth) throw Refusal("lists inside each other more than 100 deep");
  container.depth = std::max(container.depth, nature.depth + 1);
  container.plain = container.plain && nature.plain;
}

Value make_sequence(Budget& budget, Values items, bool tuple) {
  budget.spend_bytes(64 + items.size() * sizeof(Value));
  auto sequence = std::make_shared<Sequence>();
  for (const Value& item : items) add_nature(*sequence, item);
  sequence->items = std::move(items);
  sequence->tuple = tuple;
  return Value(std::shared_ptr<const Sequence>(std::move(sequence)));
}

bool is_hashable(const Value& key) {
  if (const auto* sequence = key.sequence())
    return sequence->tuple && std::all_of(sequence->items.begin(), sequence->items.end(), is_hashable);
  return key.dict() == nullptr;
}

void expect_key(const Value& key) {
  if (!is_hashable(key)) throw Refusal("a key of type " + type_name(key) + ", which cannot be one");
}

}  // namespace

Value undefined_value(std::string why) {
  return Value(Undefined{std::make_shared<const std::string>(std::move(why))});
}

Value make_text(Budget& budget, std::string bytes) {
  budget.spend_bytes(64 + bytes.size());
  return Value(Text{std::make_shared<const std::string>(std::move(bytes))});
}

Value make_list(Budget& budget, Values items) {
  return make_sequence(budget, std::move(items), false);
}

Value make_tuple(Budget& budget, Values items) {
  return make_sequence(budget, std::move(items), true);
}

Value make_dict(Budget& budget, std::vector<std::pair<Value, Value>> entries) {
  budget.spend_bytes(64 + entries.size() * 2 * sizeof(Value));
  auto dict = std::make_shared<Dict>();
  for (const auto& [key, value] : entries) {
    expect_key(key);
    add_nature(*dict, key);
    add_nature(*dict, value);
  }
  dict->entries = std::move(entries);
  return Value(std::shared_ptr<const Dict>(std::move(dict)));
}

Value make_stream(Budget& budget, StreamKind kind, Values items) {
  budget.spend_bytes(64 + items.size() * sizeof(Value));
  auto stream = std::make_shared<Stream>();
  for (const Value& item : items) add_nature(*stream, item);
  stream->kind = kind;
  stream->items = std::move(items);
  return Value(std::move(stream));
}

bool is_plain(const Value& value) {
  return nature_of(value).plain;
}

std::string type_name(const Value& value) {
  if (value.undefined()) return "undefined";
  if (value.none()) return "NoneType";
  if (value.is<bool>()) return "bool";
  if (value.is<std::int64_t>()) return "int";
  if (value.is<double>()) return "float";
  if (value.is<Text>()) return "str";
  if (const auto* sequence = value.sequence()) return sequence->tuple ? "tuple" : "list";
  if (value.dict() != nullptr) return "dict";
  if (const auto* stream = value.stream()) {
    switch (stream->kind) {
      case StreamKind::kGenerator:
        return "generator";
      case StreamKind::kRange:
        return "range";
      case StreamKind::kKeys:
        return "dict_keys";
      case StreamKind::kValues:
        return "dict_values";
      case StreamKind::kItems:
        return "dict_items";
    }
  }
  if (value.name_space() != nullptr) return "namespace";
  if (value.loop() != nullptr) return "loop";
  return value.is<MacroValue>() ? "macro" : "function";
}

const Value* find_key(Budget& budget, const Dict& dict, const Value& key) {
  expect_key(key);
  budget.spend_steps(1 + dict.entries.size() / 8);
  for (const auto& [known, value] : dict.entries) {
    if (equal(budget, known, key)) return &value;
  }
  return nullptr;
}

void set_key(Budget& budget, std::vector<std::pair<Value, Value>>& entries, Value key, Value value) {
  expect_key(key);
  budget.spend_steps(1 + entries.size() / 8);
  for (auto& [known, old] : entries) {
    if (equal(budget, known, key)) {
      old = std::move(value);
      return;
    }
  }
  entries.emplace_back(std::move(key), std::move(value));
}

}  // namespace buoy::text::jinja
