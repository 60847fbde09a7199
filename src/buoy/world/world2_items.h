#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "buoy/questions/item.h"
#include "buoy/world/world.h"

namespace buoy::world {

enum class World2Task {
  kLookup,        // one fact of one person; the other passages are about people with other names
  kSimilarNames,  // all passages state the asked relation, of people out of few first and family names
  kTwoHop,        // asks about a mentor or spouse; everybody has one among the passages, and the relation
  kNewest,        // two dated passages contradict each other: the newer one is right
  kUndecided,     // two passages contradict each other, and nothing decides: both values are accepted
  kList,          // all facts of a person, 16 to 32 tokens
  kLife,          // the same as sentences
};

std::string name_of(World2Task task);
World2Task world2_task_from_name(const std::string& name);  // throws UsageError

struct World2SetOptions {
  World2Task task = World2Task::kLookup;
  WorldPeople people = WorldPeople::kUnknown;  // known people only for lookups
  std::uint32_t count = 500;
  std::uint32_t passages = 0;       // 0: closed book
  std::optional<size_t> style{};    // of passages; nothing: drawn for every item
  std::optional<size_t> wording{};  // of the prompt; nothing: drawn for every item
  std::uint64_t seed = 1;           // of the set; the people come from the world's own
};

// Question sets of version 2. Every item has its ready prompt, with a style of labels and a wording of its
// own. Item i depends on the options and on i alone; sets that differ in passages ask the same questions, and
// sets that differ in style or wording differ in nothing else. Labels: task, kind, relation, person, style,
// wording; `rival` is the wrong value of kNewest; `first` and `second` are the values of kUndecided in the
// order of the passages. Throws UsageError for a world of version 1 and for options that contradict each
// other.
std::vector<questions::Item> make_world2_set(const World& world, const World2SetOptions& options);

}  // namespace buoy::world
