#include "buoy/world/world2_sets.h"

#include <fmt/format.h>

#include <initializer_list>

#include "buoy/world/world2_tables.h"

namespace buoy::world {

std::map<std::string, World2SetOptions> world2_sets(std::uint64_t seed, std::uint32_t count) {
  constexpr std::uint64_t kSkillSeed = 1000;
  using Task = World2Task;
  std::map<std::string, World2SetOptions> sets = {{"asked-closed", {.people = WorldPeople::kAsked}},
                                                  {"read-only-closed", {.people = WorldPeople::kReadOnly}},
                                                  {"unknown-closed", {}}};
  const auto add = [&](Task task, std::initializer_list<std::uint32_t> passages) {
    for (const std::uint32_t n : passages) {
      sets[fmt::format("{}-{}", name_of(task), n)] = {.task = task, .passages = n};
    }
  };
  add(Task::kLookup, {1, 2, 5, 10, 20});
  add(Task::kSimilarNames, {5, 10, 20});
  add(Task::kTwoHop, {2, 5, 10});
  add(Task::kNewest, {2, 5, 10});
  add(Task::kUndecided, {2, 10});
  add(Task::kList, {1, 5, 10});
  add(Task::kLife, {1, 5, 10});
  for (size_t i = 0; i < world2_tables().styles.size(); ++i) {
    sets["lookup-5-style-" + world2_tables().styles[i].name] = {.passages = 5, .style = i};
  }
  for (size_t i = 0; i < world2_tables().wordings.size(); ++i) {
    sets["lookup-5-wording-" + world2_tables().wordings[i].name] = {.passages = 5, .wording = i};
  }
  for (auto& [name, options] : sets) options.seed = seed;
  for (const std::uint32_t n : {1U, 2U, 5U, 10U}) {
    sets[fmt::format("skill-{}", n)] = {.passages = n, .seed = seed + kSkillSeed};
  }
  for (auto& [name, options] : sets) options.count = count;
  return sets;
}

}  // namespace buoy::world
