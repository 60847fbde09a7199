#include "buoy/questions/data/item_json.h"

#include <nlohmann/json.hpp>

namespace buoy::questions {

Json item_json(const Item& item) {
  Json passages = Json::array();
  for (const auto& passage : item.passages) {
    passages.push_back({{"title", passage.title}, {"text", passage.text}, {"gold", passage.gold}});
    if (passage.has_answer) passages.back()["has_answer"] = *passage.has_answer;
  }
  Json json = {{"id", item.id},
               {"question", item.question},
               {"answers", item.answers},
               {"passages", passages},
               {"labels", item.labels}};
  if (item.prompt) json["prompt"] = *item.prompt;
  return json;
}

}  // namespace buoy::questions
