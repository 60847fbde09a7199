#include "buoy/world/world_json.h"

#include <nlohmann/json.hpp>

#include "buoy/world/world2_tables.h"
#include "buoy/world/world_text.h"

namespace buoy::world {
namespace {

Json relation_json(const WorldRelation& relation) {
  Json parts = Json::array();
  for (const auto& part : relation.parts) parts.push_back(part);
  return {{"name", relation.name},
          {"parts", parts},
          {"noun", relation.noun},
          {"statements", relation.statements},
          {"questions", relation.questions}};
}

Json held_out_names() {
  const WorldTables& tables = world_tables();
  Json names = Json::array();
  for (std::uint32_t first = 0; first < tables.first_names.size(); ++first) {
    for (std::uint32_t family = 0; family < tables.family_names.size(); ++family) {
      if (is_held_out_name(first, family)) names.push_back({first, family});
    }
  }
  return names;
}

Json version2_json() {
  const World2Tables& tables = world2_tables();
  Json styles = Json::array(), wordings = Json::array();
  for (const auto& style : tables.styles) styles.push_back({{"name", style.name}, {"text", style.text}});
  for (const auto& wording : tables.wordings) {
    wordings.push_back({{"name", wording.name},
                        {"before_passages", wording.before_passages},
                        {"question", wording.question}});
  }
  return {{"version", 2},
          {"styles", styles},
          {"wordings", wordings},
          {"list_names", tables.list_names},
          {"list_questions", tables.list_questions},
          {"life_questions", tables.life_questions},
          {"record_statement", tables.record_statement},
          {"newest_counts", tables.newest_counts},
          {"first_year", tables.first_year},
          {"last_year", tables.last_year},
          {"short_slots", tables.short_slots},
          {"long_slots", tables.long_slots},
          {"fewest_long", tables.fewest_long},
          {"most_long", tables.most_long},
          {"most_passages", tables.most_passages}};
}

}  // namespace

Json world_tables_json(const World& world) {
  const WorldTables& tables = world_tables();
  Json relations = Json::array(), known = Json::array();
  for (const auto& relation : tables.relations) relations.push_back(relation_json(relation));
  for (const auto& person : world.known()) {
    known.push_back({{"first", person.first},
                     {"family", person.family},
                     {"asked", person.group == WorldPeople::kAsked},
                     {"values", person.values},
                     {"relatives", person.relatives}});
  }
  Json json = {{"seed", world.options().seed},
               {"first_names", tables.first_names},
               {"family_names", tables.family_names},
               {"relations", relations},
               {"known", known},
               {"held_out_names", held_out_names()},
               {"opening_statements", 2},
               {"fewest_statements", kFewestStatements},
               {"most_statements", kMostStatements},
               {"full_name_share", kFullNameShare},
               {"family_name_share", kFamilyNameShare}};
  if (world.options().version == 2) json.update(version2_json());
  return json;
}

}  // namespace buoy::world
