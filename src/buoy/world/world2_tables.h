#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace buoy::world {

// How passages are set apart in a prompt. {number}, {letter}, {title} and {text} are slots.
struct PassageStyle {
  std::string name;
  std::string text;
};

// The words around passages and question. {question} is a slot.
struct PromptWording {
  std::string name;
  std::string before_passages;
  std::string question;
};

// What version 2 of the world adds to the words and wordings of world_tables(): the only place it is written
// down. A line that begins with a space keeps every word one token.
struct World2Tables {
  std::vector<PassageStyle> styles;
  std::vector<PromptWording> wordings;
  std::vector<std::string> list_names;      // by relation: its name in a list
  std::vector<std::string> list_questions;  // {n} is the name
  std::vector<std::string> life_questions;
  std::string record_statement;           // the first sentence of a dated passage; {y} is the year
  std::string newest_counts;              // behind a question: which of two records is right
  std::uint32_t first_year, last_year;    // of records
  std::uint32_t short_slots, long_slots;  // places for an answer, the end token included
  std::uint32_t fewest_long, most_long;   // tokens of a long answer
  std::uint32_t most_passages;
};

const World2Tables& world2_tables();

}  // namespace buoy::world
