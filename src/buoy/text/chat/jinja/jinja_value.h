#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "buoy/text/chat/jinja/jinja_budget.h"

namespace buoy::text::jinja {

struct Macro;
struct Scope;
struct Loop;
class Value;

// What a name, key or attribute that is not there gives: prints as nothing, is false, has no items; anything
// else asked of it is an error that says `why`.
struct Undefined {
  std::shared_ptr<const std::string> why;
};
struct None {};

struct Text {
  std::shared_ptr<const std::string> bytes;
  bool markup = false;  // came out of the filter "safe"
};

// Lists and tuples never change: HF's environment forbids it.
struct Sequence {
  std::vector<Value> items;
  bool tuple = false;
  int depth = 1;      // of sequences and dicts inside each other, this one included
  bool plain = true;  // nothing in it but data
};

struct Dict {
  std::vector<std::pair<Value, Value>> entries;  // in the order they were put in
  int depth = 1;
  bool plain = true;
};

enum class StreamKind { kGenerator, kRange, kKeys, kValues, kItems };

// What can be walked through but is no list. A generator is used up as it is walked through.
struct Stream {
  StreamKind kind = StreamKind::kGenerator;
  std::vector<Value> items;
  std::size_t next = 0;
  int depth = 1;
  bool plain = true;
};

struct Namespace {
  std::vector<std::pair<std::string, Value>> attributes;
};

struct MacroValue {
  const Macro* macro = nullptr;
  Scope* scope = nullptr;  // where it was defined
};

enum class Function { kRange, kDict, kNamespace, kRaiseException, kStrftimeNow };

// "text".split, items.get, loop.cycle: a method with what it belongs to.
struct Method {
  std::shared_ptr<const Value> self;
  std::string name;
};

class Value {
 public:
  using Data =
      std::variant<Undefined, None, bool, std::int64_t, double, Text, std::shared_ptr<const Sequence>,
                   std::shared_ptr<const Dict>, std::shared_ptr<Stream>, std::shared_ptr<Namespace>,
                   std::shared_ptr<Loop>, MacroValue, Function, Method>;

  Value() : data_(None{}) {}
  template <typename T>
  requires(!std::is_same_v<std::decay_t<T>, Value>) explicit Value(T&& data) : data_(std::forward<T>(data)) {}

  template <typename T>
  const T* get() const {
    return std::get_if<T>(&data_);
  }
  template <typename T>
  bool is() const {
    return std::holds_alternative<T>(data_);
  }

  bool undefined() const { return is<Undefined>(); }
  bool none() const { return is<None>(); }
  const std::string* text() const {
    const Text* text = get<Text>();
    return text == nullptr ? nullptr : text->bytes.get();
  }
  const Sequence* sequence() const { return pointer<const Sequence>(); }
  const Dict* dict() const { return pointer<const Dict>(); }
  Stream* stream() const { return pointer<Stream>(); }
  Namespace* name_space() const { return pointer<Namespace>(); }
  Loop* loop() const { return pointer<Loop>(); }

 private:
  template <typename T>
  T* pointer() const {
    const auto* held = get<std::shared_ptr<T>>();
    return held == nullptr ? nullptr : held->get();
  }

  Data data_;
};

using Values = std::vector<Value>;

Value undefined_value(std::string why);
Value make_text(Budget& budget, std::string bytes);
Value make_list(Budget& budget, Values items);
Value make_tuple(Budget& budget, Values items);
Value make_dict(Budget& budget, std::vector<std::pair<Value, Value>> entries);  // keys once each
Value make_stream(Budget& budget, StreamKind kind, Values items);

// The walk that a `for` loop is in.
struct Loop {
  Values items;
  std::size_t index = 0;
  Value changed;  // what loop.changed() was last told; undefined before
  bool told = false;
};

// Whether a value may be kept in a namespace: data, with nothing that could lead back to the namespace.
bool is_plain(const Value& value);
// What Python calls the type: "str", "dict".
std::string type_name(const Value& value);

// The value of a key; nullptr when there is none. Refuses keys that Python cannot look up.
const Value* find_key(Budget& budget, const Dict& dict, const Value& key);

// Sets a key, in its old place when there is one.
void set_key(Budget& budget, std::vector<std::pair<Value, Value>>& entries, Value key, Value value);

}  // namespace buoy::text::jinja
