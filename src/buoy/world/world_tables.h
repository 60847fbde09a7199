#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace buoy::world {

// One thing that can be said and asked about a person. A value is one word of every part, joined by spaces;
// a relation to another person has no parts, its value is that person's name.
struct WorldRelation {
  std::string name;
  std::vector<std::vector<std::string>> parts;
  std::string noun;                     // persons only: "the mentor of {n}", for two-hop questions
  std::vector<std::string> statements;  // {s} is the subject, {v} the value
  std::vector<std::string> questions;   // {n} is the name, or a noun phrase that stands for a person

  bool is_person() const { return parts.empty(); }
};

// All words and wordings, the same in every world: the only place they are written down. The tokenizer, the
// training data and the question sets of the bundled pair are all made from these.
struct WorldTables {
  std::vector<std::string> first_names;  // "She" at even places, "He" at odd ones
  std::vector<std::string> family_names;
  std::vector<WorldRelation> relations;

  size_t relation(const std::string& name) const;  // its place; throws UsageError
};

const WorldTables& world_tables();

}  // namespace buoy::world
