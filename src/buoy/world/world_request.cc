#include "buoy/world/world_request.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "buoy/base/error.h"
#include "buoy/base/field_name.h"
#include "buoy/world/world2_tables.h"
#include "buoy/world/world_people.h"

namespace buoy::world {
namespace {

// The place of a name in a list; nothing for no name.
std::optional<size_t> place_of(const char* field, const std::string& name,
                               const std::vector<std::string>& names) {
  if (name.empty()) return std::nullopt;
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    throw_usage_error(
        {field_name(field), fmt::format("one of {}", fmt::join(names, ", ")), '"' + name + '"'});
  }
  return static_cast<size_t>(found - names.begin());
}

template <typename Entry>
std::vector<std::string> names_in(const std::vector<Entry>& entries) {
  std::vector<std::string> names;
  for (const auto& entry : entries) names.push_back(entry.name);
  return names;
}

void refuse_where(bool given, const char* field, std::uint32_t version) {
  if (!given) return;
  const std::string of_version = fmt::format("version {} of the world", version);
  throw_usage_error({field_name(field), "it with " + of_version + " only",
                     fmt::format("version {}", version == 1 ? 2 : 1)});
}

}  // namespace

std::vector<std::string> world2_task_names() {
  std::vector<std::string> names;
  for (const auto task :
       {World2Task::kLookup, World2Task::kSimilarNames, World2Task::kTwoHop, World2Task::kNewest,
        World2Task::kUndecided, World2Task::kList, World2Task::kLife}) {
    names.push_back(name_of(task));
  }
  return names;
}

std::vector<std::string> label_style_names() {
  return names_in(world2_tables().styles);
}

std::vector<std::string> wording_names() {
  return names_in(world2_tables().wordings);
}

WorldSetOptions world1_options(const WorldRequest& request) {
  refuse_where(!request.task.empty(), "task", 2);
  refuse_where(!request.label_style.empty(), "label_style", 2);
  refuse_where(!request.wording.empty(), "wording", 2);
  WorldSetOptions options;
  options.people = world_people(request.people);
  if (!request.noise_kind.empty()) options.noise = world_noise_from_name(request.noise_kind);
  options.count = request.count;
  options.passages = request.passages;
  options.gold_position = request.gold_position;
  options.two_hop = request.two_hop;
  options.seed = request.seed;
  return options;
}

World2SetOptions world2_options(const WorldRequest& request) {
  refuse_where(request.gold_position > 0, "gold_position", 1);
  refuse_where(!request.noise_kind.empty(), "noise_kind", 1);
  if (request.two_hop) {
    throw_usage_error({field_name("two_hop"), "in version 2 the task \"two-hop\"", "it beside version 2"});
  }
  World2SetOptions options;
  if (!request.task.empty()) options.task = world2_task_from_name(request.task);
  options.people = world_people(request.people);
  options.count = request.count;
  options.passages = request.passages;
  options.style = place_of("label_style", request.label_style, label_style_names());
  options.wording = place_of("wording", request.wording, wording_names());
  options.seed = request.seed;
  return options;
}

std::vector<questions::Item> make_questions(const WorldRequest& request) {
  if (request.version == 1) return make_world_set(World(), world1_options(request));
  if (request.version != 2) {
    throw_usage_error({field_name("version") + " of the world", "1 or 2", std::to_string(request.version)});
  }
  return make_world2_set(World({.version = 2}), world2_options(request));
}

}  // namespace buoy::world
