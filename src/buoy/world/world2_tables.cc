#include "buoy/world/world2_tables.h"

namespace buoy::world {

const World2Tables& world2_tables() {
  static const World2Tables tables = {
      .styles = {{"passage", "Passage {number}: {text}\n"},
                 {"bracket", "[{number}] {text}\n"},
                 {"document", "Document {letter} - {text}\n"},
                 {"title", " {title}\n {text}\n"},
                 {"none", " {text}\n"}},
      .wordings = {{"question", "", "Question: {question}\nAnswer:"},
                   {"records", "Read these records first.\n", "Now reply to this: {question}\nReply:"}},
      .list_names = {"birthplace", "date", "university", "field", "employer", "home", "instrument", "book",
                     "mentor", "spouse"},
      .list_questions = {"What is said about {n}?", "List what is known about {n}.",
                         "Which facts are given about {n}?", "Tell me all facts about {n}."},
      .life_questions = {"Who is {n}?", "Write a short life of {n}.", "Describe {n} in a few sentences.",
                         "Tell me the life of {n}."},
      .record_statement = "Record of {y}.",
      .newest_counts = "The newest record counts.",
      .first_year = 2000,
      .last_year = 2009,
      .short_slots = 8,
      .long_slots = 40,
      .fewest_long = 16,
      .most_long = 32,
      .most_passages = 26,
  };
  return tables;
}

}  // namespace buoy::world
