#include "request_json.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <set>

#include "buoy/base/error.h"
#include "buoy/base/field_name.h"
#include "buoy/base/file/named_path.h"
#include "buoy/run/attention_features.h"
#include "buoy/run/condition.h"

namespace buoy::python {
namespace {

using Json = nlohmann::json;

// An object whose keys must all be asked for.
class Keys {
 public:
  explicit Keys(const std::string& text) : json_(Json::parse(text)) {}

  template <typename T>
  void read(const char* key, T& value) {
    const Json* found = take(key);
    if (found == nullptr) return;
    try {
      found->get_to(value);
    } catch (const Json::exception&) {
      refuse(key, kind_of(value), *found);
    }
  }
  template <typename T>
  void read(const char* key, std::optional<T>& value) {
    T given{};
    if (!json_.contains(key) || json_[key].is_null()) return void(known_.insert(key));
    read(key, given);
    value = given;
  }
  const Json* take(const char* key) {
    known_.insert(key);
    const auto found = json_.find(key);
    return found == json_.end() || found->is_null() ? nullptr : &*found;
  }
  [[noreturn]] static void refuse(const char* key, const char* expected, const Json& found) {
    throw_usage_error({field_name(key), expected, found.dump()});
  }
  void refuse_others() const {
    for (const auto& [key, value] : json_.items()) {
      if (known_.contains(key)) continue;
      throw_usage_error(
          {field_name(key), fmt::format("one of {}", fmt::join(known_, ", ")), "an argument of that name"});
    }
  }

 private:
  static const char* kind_of(bool) { return "True or False"; }
  static const char* kind_of(std::int32_t) { return "a whole number"; }
  static const char* kind_of(std::int64_t) { return "a whole number"; }
  static const char* kind_of(std::uint64_t) { return "a whole number from 0"; }
  static const char* kind_of(double) { return "a number"; }
  static const char* kind_of(const std::string&) { return "a text"; }
  template <typename T>
  static const char* kind_of(const std::vector<T>&) {
    return "a list";
  }

  Json json_;
  std::set<std::string> known_;
};

// A whole number is no bool and no fraction, whatever JSON makes of them.
void check_number(const char* key, const Json& value, bool whole, bool from_zero) {
  if (value.is_array()) {
    for (const auto& one : value) check_number(key, one, whole, from_zero);
    return;
  }
  if (whole ? !value.is_number_integer() : !value.is_number())
    Keys::refuse(key, whole ? "a whole number" : "a number", value);
  if (from_zero && !value.is_number_unsigned()) Keys::refuse(key, "a whole number from 0", value);
}

void read_decoding(Keys& keys, decode::DecodeOptions& options) {
  for (const auto& option : decode::kDecodeOptions) {
    const std::string key(option.key);
    std::visit(
        [&](auto field) {
          auto& value = options.*field;
          using Value = std::decay_t<decltype(value)>;
          if (const Json* given = keys.take(key.c_str())) {
            if constexpr (std::is_same_v<Value, std::uint64_t>) check_number(key.c_str(), *given, true, true);
            if constexpr (std::is_same_v<Value, std::int32_t> ||
                          std::is_same_v<Value, std::optional<std::int32_t>> ||
                          std::is_same_v<Value, std::optional<std::int64_t>> ||
                          std::is_same_v<Value, std::vector<std::int32_t>>) {
              check_number(key.c_str(), *given, true, false);
              const Json list = given->is_array() ? *given : Json::array({*given});
              for (const auto& one : list) {
                if constexpr (!std::is_same_v<Value, std::optional<std::int64_t>>) {
                  if (one.get<std::int64_t>() != one.get<std::int32_t>())
                    Keys::refuse(key.c_str(), "a number of 32 bits", one);
                }
              }
            }
            if constexpr (std::is_same_v<Value, double> || std::is_same_v<Value, std::optional<double>>)
              check_number(key.c_str(), *given, false, false);
          }
          keys.read(key.c_str(), value);
        },
        option.field);
  }
}

void read_request(Keys& keys, run::Request& request, const ModelHandle& model) {
  read_decoding(keys, request.decode);
  keys.read("observe", request.observe);
  if (request.observe == "features") request.observe = run::kFeatureObservables;
  keys.read("layers", request.layers);
  keys.read("steps_observed", request.steps_observed);
  keys.read("groups", request.groups);
  if (const Json* given = keys.take("predicted_tokens")) {
    constexpr std::int64_t kMost = 1000;  // as `buoy trace` has it
    if (!given->is_number_integer() || given->get<std::int64_t>() < 1 || given->get<std::int64_t>() > kMost)
      Keys::refuse("predicted_tokens", "a whole number from 1 to 1000", *given);
    request.predicted_tokens = given->get<std::int64_t>();
    if (!observe::parse_plan(request.observe, "", "").has(observe::kPredictions))
      Keys::refuse("predicted_tokens", "predictions observed with it", request.observe);
  }
  keys.read("final_row", request.final_row);
  keys.read("float16", request.float16);
  keys.read("template", request.prompt_template);
  std::optional<bool> chat;
  keys.read("chat", chat);
  request.chat_use = !chat   ? run::ChatUse::kWhenThereIsOne
                     : *chat ? run::ChatUse::kAlways
                             : run::ChatUse::kNever;
  keys.read("system", request.chat.system);
  keys.read("chat_style", request.chat.style);
  keys.read("no_thinking", request.chat.no_thinking);
  keys.read("chat_date", request.chat.date);
  request.device = model.model().device();
}

}  // namespace

run::TraceRequest read_trace_request(const std::string& text, const ModelHandle& model,
                                     const run::Changes& changes) {
  Keys keys(text);
  run::TraceRequest request;
  read_request(keys, request, model);
  request.changes = changes;
  std::vector<std::string> prompts, names;
  std::vector<std::int32_t> ids;
  keys.read("prompts", prompts);
  keys.read("names", names);
  keys.read("ids", ids);
  keys.refuse_others();
  run::check_decoding(model.config(), request.decode);
  run::check_changes(request.changes, model.config(), request.decode);
  if (!request.observe.empty()) request.plan();
  if (!ids.empty()) {
    for (const auto id : ids) {
      if (id < 0 || id >= model.config().vocabulary)
        throw_usage_error(
            {"prompt", fmt::format("ids from 0 to {}", model.config().vocabulary - 1), std::to_string(id)});
    }
    request.ids = run::Prompt{ids, "", {}};
    questions::Item item;
    item.id = names.empty() ? "prompt" : names[0];
    request.items.push_back(item);
  } else {
    request.chat = run::settle(request.chat_use, request.chat, model.folder());
  }
  for (std::size_t n = 0; n < prompts.size(); ++n) {
    if (prompts[n].empty()) throw_usage_error({"prompt", "some text", "an empty prompt"});
    questions::Item item;
    item.id = n < names.size()      ? names[n]
              : prompts.size() == 1 ? std::string("prompt")
                                    : fmt::format("prompt-{}", n);
    item.question = prompts[n];
    request.items.push_back(item);
  }
  return request;
}

run::Request traceable(run::Request request) {
  if (request.observe.empty()) request.observe = "entropy";
  return request;
}

run::EvaluationSpec read_evaluation_spec(const std::string& text, const ModelHandle& model,
                                         const run::Changes& changes) {
  Keys keys(text);
  run::EvaluationSpec spec;
  spec.decode.max_new_tokens = 32;
  read_request(keys, spec, model);
  spec.changes = changes;
  std::string data, name;
  std::optional<bool> closed_book;
  std::int64_t limit = 0;
  run::Condition condition;
  keys.read("data", data);
  keys.read("name", name);
  keys.read("limit", limit);
  keys.read("passages", condition.passages);
  keys.read("gold_position", condition.gold_position);
  keys.read("closed_book", closed_book);
  keys.read("closed_book_template", spec.closed_book_prompt);
  keys.read("first_line", spec.first_line_only);
  keys.read("keep_text_after_end", spec.keep_text_after_end);
  keys.read("batch_tokens", spec.batch.token_budget);
  keys.refuse_others();
  if (limit > 0) spec.read.limit = static_cast<std::size_t>(limit);
  spec.models = {NamedPath{name, model.folder()}};
  const auto file = parse_named(data);
  spec.data = {file};
  run::ConditionRequest request;
  request.base = condition;
  request.closed_book =
      closed_book.value_or(condition.passages == 0 || !run::has_passages(file.path, spec.read));
  request.with_passages = !request.closed_book;
  if (request.closed_book) request.base.passages = -1;
  spec.conditions = run::make_conditions(request);
  if (spec.changes.top) {
    // Questions are packed: keys are chosen for each of them.
    const run::Changes top = std::exchange(spec.changes, {});
    run::check_top_change(*top.top, model.config());
    if (top.texts.size() > 1)
      throw_usage_error({run::kTopField, "no other change beside it where questions are evaluated",
                         fmt::format("{}", fmt::join(top.texts, "; "))});
    for (auto& one : spec.conditions) {
      one.top = top.top;
      one.top_text = top.texts.front();
    }
  }
  spec.threads = model.threads();
  run::check_decoding(model.config(), run::fitting(model.config().family, spec.decode));
  run::check_changes(spec.changes, model.config(), spec.decode);
  return spec;
}

}  // namespace buoy::python
