#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "buoy/checkpoint/config.h"

namespace buoy::model {

// What is known of a family beside how it is computed: for docs/models.md and `buoy inspect`.
struct FamilyFacts {
  Family family;
  std::string_view models;         // what goes by its name
  std::string_view attention;      // and which row of the logits is for position p
  std::string_view decoding;       // loops
  std::string_view approximation;  // what is not exact; "": caches, packing and watching change no bit
  std::string_view compared;       // tests/data/...: goldens of an independent implementation
  std::string_view smallest;       // published checkpoint
  std::string_view refused;        // of its settings, beside what is refused of all
};
const std::vector<FamilyFacts>& family_facts();
const FamilyFacts* facts_of(Family family);  // null: a family without a row

// The shape of the smallest published checkpoint.
ModelConfig smallest_of(Family family);

// The table of docs/models.md.
std::string describe_families();

}  // namespace buoy::model
