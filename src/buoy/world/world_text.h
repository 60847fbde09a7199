#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "buoy/world/world.h"
#include "buoy/world/world_draws.h"

namespace buoy::world {

// How often a later sentence of a biography names its subject in each way; the rest is "She" or "He". The
// first sentence has the full name.
constexpr double kFullNameShare = 0.4, kFamilyNameShare = 0.3;

// A biography says this many things.
constexpr std::uint32_t kFewestStatements = 3, kMostStatements = 5;

// Some of what there is to say about a person, in drawn wording and order; always `must_say`, never
// `must_not_say`.
struct BiographyOptions {
  std::optional<size_t> must_say;
  std::optional<size_t> must_not_say;
};

std::string write_biography(const Person& person, const BiographyOptions& options, WorldDraws& draws);

// Which relations such a biography speaks of, in order.
std::vector<size_t> drawn_relations(const BiographyOptions& options, WorldDraws& draws);

// These relations of a person, in this order, in drawn wording.
std::string write_statements(const Person& person, const std::vector<size_t>& relations, WorldDraws& draws);

// "Where was {n} born?" about a person, or about "the mentor of {n}".
std::string write_question(const std::string& about, size_t relation, WorldDraws& draws);

// What counts as right: the value, and other spellings of it ("March 3, 1901" for "3 March 1901", a title
// without its article).
std::vector<std::string> accepted_answers(const std::string& value, size_t relation);

}  // namespace buoy::world
