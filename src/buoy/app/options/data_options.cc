#include "buoy/app/options/data_options.h"

#include <fmt/format.h>

#include <map>

#include "buoy/base/error.h"
#include "buoy/base/file/named_path.h"
#include "buoy/base/utf8.h"

namespace buoy::app {

std::shared_ptr<std::vector<std::string>> add_field_option(Command& command) {
  auto fields = std::make_shared<std::vector<std::string>>();
  command
      .add_option(
          "--field", *fields,
          "what a field of the data is called, as in question=query; of id, question, answers,\n"
          "answer_text, passages, title, text, gold, has_answer, prompt, label (`buoy inspect F` shows them)")
      ->type_name("FIELD=NAME");
  return fields;
}

questions::FieldNames parse_fields(const std::vector<std::string>& fields) {
  questions::FieldNames names;
  const std::map<std::string, std::string*> known = {{"id", &names.id},
                                                     {"question", &names.question},
                                                     {"answers", &names.answers},
                                                     {"answer_text", &names.answer_text},
                                                     {"passages", &names.passages},
                                                     {"title", &names.title},
                                                     {"text", &names.text},
                                                     {"gold", &names.gold},
                                                     {"has_answer", &names.has_answer},
                                                     {"prompt", &names.prompt}};
  for (const auto& field : fields) {
    const auto equals = field.find('=');
    const std::string key = field.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : field.substr(equals + 1);
    const auto found = known.find(key);
    if (value.empty() || (found == known.end() && key != "label")) {
      std::string list;
      for (const auto& [name, target] : known) list += name + ", ";
      throw_usage_error(
          {"--field", fmt::format("FIELD=NAME, FIELD one of {}label", list), '"' + field + '"'});
    }
    if (key == "label") {
      names.labels.push_back(value);
    } else {
      *found->second = value;
    }
  }
  return names;
}

}  // namespace buoy::app
