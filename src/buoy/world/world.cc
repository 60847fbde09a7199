#include "buoy/world/world.h"

#include <fmt/format.h>

#include <set>

#include "buoy/base/error.h"
#include "buoy/world/world_draws.h"

namespace buoy::world {
namespace {

constexpr std::uint32_t kName = 0, kFacts = 1;  // parts of a person's draws

std::uint32_t size_of(const std::vector<std::string>& list) {
  return static_cast<std::uint32_t>(list.size());
}

std::string full_name(std::uint32_t first, std::uint32_t family) {
  return world_tables().first_names[first] + ' ' + world_tables().family_names[family];
}

// Facts that are not about other people.
void draw_values(WorldDraws& draws, Person& person) {
  for (const auto& relation : world_tables().relations) {
    std::string value;
    for (const auto& part : relation.parts) {
      if (!value.empty()) value += ' ';
      value += part[draws.below(size_of(part))];
    }
    person.values.push_back(value);
    person.relatives.push_back(person.number);
  }
}

}  // namespace

std::string name_of(WorldPeople people) {
  switch (people) {
    case WorldPeople::kAsked:
      return "asked";
    case WorldPeople::kReadOnly:
      return "read-only";
    case WorldPeople::kUnknown:
      return "unknown";
  }
  return "?";
}

bool is_held_out_name(std::uint32_t first, std::uint32_t family) {
  return (first * 3 + family) % 8 == 0;
}

std::string Person::name() const {
  return full_name(first, family);
}

std::string Person::family_name() const {
  return world_tables().family_names[family];
}

std::string Person::pronoun() const {
  return first % 2 == 0 ? "She" : "He";
}

World::World(const WorldOptions& options) : options_(options) {
  if (options.version != 1 && options.version != 2) {
    throw_usage_error({"version of the world", "1 or 2", std::to_string(options.version)});
  }
  const WorldTables& tables = world_tables();
  const std::uint32_t count = options.asked + options.read_only;
  const std::uint32_t names = size_of(tables.first_names) * size_of(tables.family_names);
  if (count < 3 || count > names / 4) {
    throw_usage_error({"known people", fmt::format("3 to {}", names / 4), std::to_string(count)});
  }
  std::set<std::string> taken;
  for (std::uint32_t number = 0; number < count; ++number) {
    Person person;
    person.group = number < options.asked ? WorldPeople::kAsked : WorldPeople::kReadOnly;
    person.number = number;
    WorldDraws draws(options.seed, WorldStream::kKnown, number, kName);
    do {
      person.first = draws.below(size_of(tables.first_names));
      person.family = draws.below(size_of(tables.family_names));
    } while (is_held_out_name(person.first, person.family) || !taken.insert(person.name()).second);
    known_.push_back(std::move(person));
  }
  for (Person& person : known_) {
    WorldDraws draws(options.seed, WorldStream::kKnown, person.number, kFacts);
    draw_values(draws, person);
    for (size_t r = 0; r < tables.relations.size(); ++r) {
      if (!tables.relations[r].is_person()) continue;
      do {
        person.relatives[r] = draws.below(count);
      } while (person.relatives[r] == person.number);
      person.values[r] = known_[person.relatives[r]].name();
    }
  }
}

World::Name World::unknown_name(std::uint32_t number) const {
  WorldDraws draws(options_.seed, WorldStream::kUnknown, number, kName);
  const WorldTables& tables = world_tables();
  for (;;) {
    const Name name{draws.below(size_of(tables.first_names)), draws.below(size_of(tables.family_names))};
    if (is_held_out_name(name.first, name.family)) return name;
  }
}

Person World::unknown(std::uint32_t number) const {
  const WorldTables& tables = world_tables();
  Person person;
  person.number = number;
  const Name name = unknown_name(number);
  person.first = name.first;
  person.family = name.family;
  WorldDraws draws(options_.seed, WorldStream::kUnknown, number, kFacts);
  draw_values(draws, person);
  for (size_t r = 0; r < tables.relations.size(); ++r) {
    if (!tables.relations[r].is_person()) continue;
    for (;;) {
      person.relatives[r] = draws.below(std::uint32_t{1} << 31);
      const Name other = unknown_name(person.relatives[r]);
      if (other.first == person.first && other.family == person.family) continue;
      person.values[r] = full_name(other.first, other.family);
      break;
    }
  }
  return person;
}

Person World::relative(const Person& person, size_t relation) const {
  const WorldTables& tables = world_tables();
  if (relation >= tables.relations.size() || !tables.relations[relation].is_person()) {
    throw_usage_error({"relation", "a relation to a person", fmt::format("relation {}", relation)});
  }
  const std::uint32_t number = person.relatives.at(relation);
  return person.is_known() ? known_.at(number) : unknown(number);
}

}  // namespace buoy::world
