#include "app/world_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"

namespace buoy::app {
namespace {

constexpr evaluate::WorldPeople kAll[] = {evaluate::WorldPeople::kAsked, evaluate::WorldPeople::kReadOnly,
                                          evaluate::WorldPeople::kUnknown};

}  // namespace

std::vector<std::string> world_people_names() {
  std::vector<std::string> names;
  for (const auto people : kAll) names.push_back(evaluate::name_of(people));
  return names;
}

evaluate::WorldPeople world_people(const std::string& name) {
  for (const auto people : kAll) {
    if (name == evaluate::name_of(people)) return people;
  }
  throw_usage_error(
      {"people", fmt::format("one of {}", fmt::join(world_people_names(), ", ")), '"' + name + '"'});
}

}  // namespace buoy::app
