#include "buoy/questions/data/record.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "buoy/base/error.h"
#include "buoy/questions/score/characters.h"

namespace buoy::questions {
namespace {

class RecordConverter {
 public:
  RecordConverter(const Json& record, const RecordRules& rules, const std::string& where)
      : record_(record), names_(rules.names), require_answers_(rules.require_answers), where_(where) {
    if (!record.is_object()) throw_input_error({where, "a JSON object", describe_json(record)});
  }

  Item convert() const {
    Item item;
    item.id = id();
    const bool prompt_alone =
        find(record_, names_.prompt) != nullptr && find(record_, names_.question) == nullptr;
    if (!prompt_alone) item.question = question();
    if (require_answers_ || find(record_, names_.answers) != nullptr) item.answers = answers();
    item.source_titles = source_titles();
    item.passages = passages();
    if (const Json* prompt = find(record_, names_.prompt)) item.prompt = text_of(*prompt, names_.prompt);
    item.labels = labels();
    return item;
  }

 private:
  static const Json* find(const Json& object, const std::string& key) {
    if (key.empty() || key == FieldNames::kIgnored) return nullptr;
    const auto found = object.find(key);
    return found == object.end() || found->is_null() ? nullptr : &*found;
  }

  [[noreturn]] void fail(const std::string& field, const std::string& expected,
                         const std::string& found) const {
    throw_input_error({fmt::format("{}: {}", where_, field), expected, found});
  }

  std::string fields_found() const {
    std::vector<std::string> keys;
    for (const auto& [key, value] : record_.items()) keys.push_back(key);
    return keys.empty() ? "no fields" : fmt::format("the fields {}", fmt::join(keys, ", "));
  }

  std::string text_of(const Json& value, const std::string& field) const {
    if (!value.is_string()) fail(field, "text", describe_json(value));
    return value.get<std::string>();
  }

  std::string id() const {
    const Json* value = find(record_, names_.id);
    if (value == nullptr) return {};
    if (value->is_number_integer()) return value->dump();
    return text_of(*value, names_.id);
  }

  std::string question() const {
    const Json* value = find(record_, names_.question);
    if (value == nullptr) {
      const std::string wanted = names_.question.empty() ? "in one of " + question_candidates()
                                                         : fmt::format("in \"{}\"", names_.question);
      fail("question", "a question " + wanted, fields_found());
    }
    std::string text = text_of(*value, names_.question);
    if (is_blank(text)) fail(names_.question, "a question", "blank text");
    if (layout_of(names_) != Layout::kKeyValue) return text;
    return fmt::format("Which value belongs to the key \"{}\"?", text);
  }

  // An answer as text; nothing for an object without one (KILT has entries with a provenance only).
  std::optional<std::string> answer_of(const Json& value, const std::string& field) const {
    if (value.is_string()) return value.get<std::string>();
    if (value.is_number()) return value.dump();
    if (!value.is_object()) fail(field, "text, a number or an object that holds them", describe_json(value));
    const Json* inner = find(value, names_.answer_text);
    // One list may hold both kinds of objects.
    if (inner == nullptr && names_.answer_text == "answer") inner = find(value, "text");
    if (inner == nullptr && names_.answer_text == "text") inner = find(value, "answer");
    if (inner == nullptr) return std::nullopt;
    if (inner->is_number()) return inner->dump();
    return text_of(*inner, fmt::format("{}.{}", field, names_.answer_text));
  }

  std::vector<std::string> answers() const {
    const Json* value = find(record_, names_.answers);
    if (value == nullptr) {
      const std::string wanted = names_.answers.empty() ? "in one of " + answers_candidates()
                                                        : fmt::format("in \"{}\"", names_.answers);
      fail("answers", "answers " + wanted, fields_found());
    }
    std::vector<std::string> all;
    const auto add = [&](const Json& one, const std::string& field) {
      const auto text = answer_of(one, field);
      if (text && !is_blank(*text) && std::find(all.begin(), all.end(), *text) == all.end()) {
        all.push_back(*text);
      }
    };
    if (value->is_array()) {
      for (std::size_t i = 0; i < value->size(); ++i)
        add((*value)[i], fmt::format("{}[{}]", names_.answers, i));
    } else {
      add(*value, names_.answers);
    }
    if (all.empty()) fail(names_.answers, "at least one answer that is not blank", describe_json(*value));
    return all;
  }

  std::vector<std::string> source_titles() const {
    std::vector<std::string> titles;
    const Json* outputs = find(record_, names_.answers);
    if (outputs == nullptr || !outputs->is_array()) return titles;
    for (const Json& output : *outputs) {
      const Json* sources = output.is_object() ? find(output, "provenance") : nullptr;
      if (sources == nullptr || !sources->is_array()) continue;
      for (const Json& source : *sources) {
        const Json* title = source.is_object() ? find(source, "title") : nullptr;
        if (title == nullptr || !title->is_string()) continue;
        const auto text = title->get<std::string>();
        if (std::find(titles.begin(), titles.end(), text) == titles.end()) titles.push_back(text);
      }
    }
    return titles;
  }

  std::optional<bool> flag(const Json& passage, const std::string& key, const std::string& field) const {
    const Json* value = find(passage, key);
    if (value == nullptr) return std::nullopt;
    if (value->is_boolean()) return value->get<bool>();
    if (value->is_number_integer()) {
      const auto number = value->get<std::int64_t>();
      if (number == 0 || number == 1) return number == 1;
    }
    fail(fmt::format("{}.{}", field, key), "true or false", describe_json(*value));
  }

  Passage passage_of(const Json& value, const std::string& field) const {
    if (value.is_string()) return {.text = value.get<std::string>()};
    if (value.is_array()) return pair_of(value, field);
    if (!value.is_object()) fail(field, "an object or text", describe_json(value));
    Passage passage;
    const Json* text = find(value, names_.text);
    if (text == nullptr) {
      fail(fmt::format("{}.{}", field, names_.text.empty() ? "text" : names_.text), "the passage's text",
           "nothing");
    }
    passage.text = text_of(*text, fmt::format("{}.{}", field, names_.text));
    if (const Json* title = find(value, names_.title)) {
      passage.title = text_of(*title, fmt::format("{}.{}", field, names_.title));
    }
    passage.gold = flag(value, names_.gold, field).value_or(false);
    passage.has_answer = flag(value, names_.has_answer, field);
    return passage;
  }

  Passage pair_of(const Json& value, const std::string& field) const {
    if (value.size() != 2 || !value[0].is_string() || !value[1].is_string()) {
      fail(field, "a key and a value, both text", value.dump().substr(0, 80));
    }
    const Json* asked = find(record_, names_.question);
    return {.text = fmt::format("\"{}\": \"{}\"", value[0].get<std::string>(), value[1].get<std::string>()),
            .gold = asked != nullptr && *asked == value[0]};
  }

  std::vector<Passage> passages() const {
    std::vector<Passage> all;
    const Json* value = find(record_, names_.passages);
    if (value == nullptr) return all;
    if (!value->is_array()) fail(names_.passages, "a list of passages", describe_json(*value));
    all.reserve(value->size());
    for (std::size_t i = 0; i < value->size(); ++i) {
      all.push_back(passage_of((*value)[i], fmt::format("{}[{}]", names_.passages, i)));
    }
    return all;
  }

  std::map<std::string, std::string> labels() const {
    std::map<std::string, std::string> all;
    const auto add = [&](const std::string& name, const Json& value) {
      if (value.is_primitive() && !value.is_null())
        all[name] = value.is_string() ? value.get<std::string>() : value.dump();
    };
    for (const std::string& name : names_.labels) {
      if (const Json* value = find(record_, name)) add(name, *value);
    }
    const Json* object = find(record_, "labels");
    if (object != nullptr && object->is_object()) {
      for (const auto& [name, value] : object->items()) add(name, value);
    }
    return all;
  }

  const Json& record_;
  const FieldNames& names_;
  bool require_answers_;
  const std::string& where_;
};

}  // namespace

Item item_from_record(const Json& record, const RecordRules& rules, const std::string& where) {
  return RecordConverter(record, rules, where).convert();
}

}  // namespace buoy::questions
