#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "buoy/world/world_tables.h"

namespace buoy::world {

// The bundled pair was trained on the known people of the world with these numbers. Version 2 has the same
// words and people, and more to ask about them: see world2_items.h.
struct WorldOptions {
  std::uint32_t version = 1;
  std::uint64_t seed = 1;
  std::uint32_t asked = 320;      // known people that training asks about
  std::uint32_t read_only = 192;  // known people whose biographies training shows, but never asks about
};

enum class WorldPeople { kAsked, kReadOnly, kUnknown };

std::string name_of(WorldPeople people);

struct Person {
  WorldPeople group = WorldPeople::kUnknown;
  std::uint32_t number = 0;              // within known people, or within unknown ones
  std::uint32_t first = 0, family = 0;   // places in the tables
  std::vector<std::string> values;       // by relation; a person's name for relations to persons
  std::vector<std::uint32_t> relatives;  // by relation: the number of that person, in the same group of two

  std::string name() const;
  std::string family_name() const;
  std::string pronoun() const;
  bool is_known() const { return group != WorldPeople::kUnknown; }
};

// People and their facts: a pure function of the options. Known people are finite and closed under
// relations; unknown ones are endless and made when asked for. The names of unknown people are held out:
// training never shows them.
class World {
 public:
  explicit World(const WorldOptions& options = {});

  const WorldOptions& options() const { return options_; }
  const std::vector<Person>& known() const { return known_; }  // first those asked about, then read-only
  Person unknown(std::uint32_t number) const;
  Person relative(const Person& person, size_t relation) const;

 private:
  struct Name {
    std::uint32_t first, family;
  };
  Name unknown_name(std::uint32_t number) const;

  WorldOptions options_;
  std::vector<Person> known_;
};

// One name in eight is kept from training: neither known people nor training's unknown ones bear it.
bool is_held_out_name(std::uint32_t first, std::uint32_t family);

}  // namespace buoy::world
