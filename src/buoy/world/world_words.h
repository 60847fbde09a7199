#pragma once

#include <string>
#include <vector>

namespace buoy::world {

// The vocabulary of the world of facts. Made-up words are spelled from syllables by a fixed seed and are all
// different, across lists too, so that a word alone tells what kind of thing it is.
struct WorldWords {
  std::vector<std::string> first_names;   // 256; even: feminine endings, odd: masculine ones
  std::vector<std::string> family_names;  // 256
  std::vector<std::string> cities;        // 128
  std::vector<std::string> founders;      // 96, of universities
  std::vector<std::string> brands;        // 96, of employers
  std::vector<std::string> fields;        // 64
  std::vector<std::string> instruments;   // 48
  std::vector<std::string> adjectives;    // 48, of titles
  std::vector<std::string> nouns;         // 64, of titles
};

WorldWords make_world_words();

}  // namespace buoy::world
