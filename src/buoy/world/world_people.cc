#include "buoy/world/world_people.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "buoy/base/error.h"

namespace buoy::world {
namespace {

constexpr WorldPeople kAll[] = {WorldPeople::kAsked, WorldPeople::kReadOnly, WorldPeople::kUnknown};

}  // namespace

std::vector<std::string> world_people_names() {
  std::vector<std::string> names;
  for (const auto people : kAll) names.push_back(name_of(people));
  return names;
}

WorldPeople world_people(const std::string& name) {
  for (const auto people : kAll) {
    if (name == name_of(people)) return people;
  }
  throw_usage_error(
      {"people", fmt::format("one of {}", fmt::join(world_people_names(), ", ")), '"' + name + '"'});
}

}  // namespace buoy::world
