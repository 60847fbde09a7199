#include "buoy/run/parts/evaluation_plan.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <utility>

#include "buoy/base/error.h"
#include "buoy/base/file/json_file.h"
#include "buoy/shard/parent_folder.h"

namespace buoy::run {
namespace {

constexpr char kPlanFormat[] = "buoy evaluation plan 1";

}  // namespace

EvaluationPlan::EvaluationPlan(std::vector<Cell> cells,
                               std::map<std::string, std::vector<std::string>> ids_of_set)
    : cells_(std::move(cells)), ids_(std::move(ids_of_set)) {
  for (const auto& [set, ids] : ids_) {
    for (const auto& id : ids) place_[set].emplace(id, place_[set].size());
  }
  for (const auto& cell : cells_) {
    first_[{cell.model, cell.set, cell.condition}] = cell.first;
    size_ = std::max(size_, cell.first + ids_.at(cell.set).size());
  }
}

std::filesystem::path EvaluationPlan::file(const std::filesystem::path& out) {
  return shard::shards_folder(out) / "plan.json";
}

std::string EvaluationPlan::text() const {
  Json json = {{"format", kPlanFormat}, {"cells", Json::array()}, {"ids", ids_}};
  for (const auto& cell : cells_)
    json["cells"].push_back(
        {{"model", cell.model}, {"set", cell.set}, {"condition", cell.condition}, {"first", cell.first}});
  return dump_json(json) + '\n';
}

EvaluationPlan EvaluationPlan::read(const std::filesystem::path& out) {
  const auto path = file(out);
  const Json json = read_json_file(path);
  const JsonObject plan(json, path.string());
  if (plan.required_text("format") != kPlanFormat) plan.fail("format", kPlanFormat);
  std::map<std::string, std::vector<std::string>> ids;
  if (const Json* sets = plan.find("ids"); sets != nullptr && sets->is_object()) {
    for (const auto& [set, list] : sets->items()) {
      if (!list.is_array()) plan.fail("ids", "lists of ids");
      for (const auto& id : list) {
        if (!id.is_string()) plan.fail("ids", "lists of ids");
        ids[set].push_back(id.get<std::string>());
      }
    }
  }
  std::vector<Cell> cells;
  const Json* list = plan.find("cells");
  if (list == nullptr || !list->is_array()) plan.fail("cells", "a list");
  for (const auto& one : *list) {
    const JsonObject cell(one, fmt::format("{}: cells[{}]", path.string(), cells.size()));
    cells.push_back({cell.required_text("model"), cell.required_text("set"), cell.required_text("condition"),
                     static_cast<std::size_t>(cell.required_integer("first", {0, INT64_MAX}))});
    if (!ids.contains(cells.back().set)) cell.fail("set", "one that `ids` has");
  }
  return {std::move(cells), std::move(ids)};
}

std::size_t EvaluationPlan::number_of(const AnswerRecord& record) const {
  const auto cell = first_.find({record.model, record.set, record.condition});
  const auto set = place_.find(record.set);
  if (cell != first_.end() && set != place_.end()) {
    if (const auto place = set->second.find(record.id); place != set->second.end())
      return cell->second + place->second;
  }
  throw_input_error({"answer", "one that the run plans",
                     fmt::format("{}, {}, {}, {}", record.model, record.set, record.condition, record.id)});
}

}  // namespace buoy::run
