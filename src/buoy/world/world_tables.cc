#include "buoy/world/world_tables.h"

#include <algorithm>

#include "buoy/base/error.h"
#include "buoy/world/world_words.h"

namespace buoy::world {
namespace {

std::vector<std::string> numbers(int first, int last) {
  std::vector<std::string> list;
  for (int i = first; i <= last; ++i) list.push_back(std::to_string(i));
  return list;
}

const std::vector<std::string> kMonths = {"January",   "February", "March",    "April",
                                          "May",       "June",     "July",     "August",
                                          "September", "October",  "November", "December"};

// The first two statements of every relation begin with the subject: one of them opens a biography.
std::vector<WorldRelation> make_relations(const WorldWords& words) {
  return {
      {"birthplace",
       {words.cities},
       "",
       {"{s} was born in {v}.", "{s} came into the world in {v}.", "{s} was a child of {v}.",
        "It was in {v} that {s} was born."},
       {"Where was {n} born?", "In which city was {n} born?", "What is the birthplace of {n}?",
        "Tell me where {n} was born."}},
      {"birth_date",
       {numbers(1, 28), kMonths, numbers(1880, 1979)},
       "",
       {"{s} was born on {v}.", "{s} first saw the light of day on {v}.",
        "The date on which {s} was born is {v}.", "On {v} {s} was born."},
       {"When was {n} born?", "On which date was {n} born?", "What is the birth date of {n}?",
        "Tell me when {n} was born."}},
      {"university",
       {words.founders, {"University", "College", "Institute", "Academy"}},
       "",
       {"{s} studied at {v}.", "{s} graduated from {v}.", "{s} took a degree at {v}.",
        "It was {v} that {s} attended as a student."},
       {"Where did {n} study?", "Which university did {n} attend?", "What is the university of {n}?",
        "Tell me where {n} studied."}},
      {"field",
       {words.fields},
       "",
       {"{s} is an expert in {v}.", "{s} is known for research in {v}.", "{s} devoted a whole career to {v}.",
        "The subject that {s} chose was {v}."},
       {"What is the field of {n}?", "In which field is {n} an expert?", "Which subject did {n} choose?",
        "Tell me the field of {n}."}},
      {"employer",
       {words.brands, {"Labs", "Works", "Group", "Trust", "Foundation", "Press"}},
       "",
       {"{s} works for {v}.", "{s} is employed by {v}.", "{s} has a position at {v}.",
        "The employer of {s} is {v}."},
       {"Who employs {n}?", "For which company does {n} work?", "What is the employer of {n}?",
        "Tell me who employs {n}."}},
      {"city",
       {words.cities},
       "",
       {"{s} lives in {v}.", "{s} has a house in {v}.", "{s} settled in {v}.", "The home of {s} is in {v}."},
       {"Where does {n} live?", "In which city does {n} live?", "What is the home of {n}?",
        "Tell me where {n} lives."}},
      {"instrument",
       {words.instruments},
       "",
       {"{s} plays the {v}.", "{s} is fond of playing the {v}.", "{s} practises the {v} every day.",
        "The {v} is what {s} plays."},
       {"What does {n} play?", "Which instrument does {n} play?", "What is the instrument of {n}?",
        "Tell me which instrument {n} plays."}},
      {"work",
       {{"The"}, words.adjectives, words.nouns},
       "",
       {"{s} wrote {v}.", "{s} is the author of {v}.", "{s} published {v}.",
        "The book {v} was written by {s}."},
       {"What did {n} write?", "Which book did {n} write?", "What is the title of the book by {n}?",
        "Tell me which book {n} wrote."}},
      {"mentor",
       {},
       "the mentor of {n}",
       {"{s} was taught by {v}.", "{s} was a student of {v}.", "{s} learned everything from {v}.",
        "The mentor of {s} was {v}."},
       {"Who taught {n}?", "Who was the mentor of {n}?", "By whom was {n} taught?",
        "Tell me who taught {n}."}},
      {"spouse",
       {},
       "the spouse of {n}",
       {"{s} is married to {v}.", "{s} married {v}.", "{s} shares a home with {v}.",
        "The spouse of {s} is {v}."},
       {"Who is married to {n}?", "Who is the spouse of {n}?", "Whom did {n} marry?",
        "Tell me who married {n}."}},
  };
}

}  // namespace

size_t WorldTables::relation(const std::string& name) const {
  const auto found =
      std::find_if(relations.begin(), relations.end(), [&](const auto& r) { return r.name == name; });
  if (found != relations.end()) return static_cast<size_t>(found - relations.begin());
  std::string known;
  for (const auto& r : relations) known += (known.empty() ? "" : ", ") + r.name;
  throw_usage_error({"relation", "one of " + known, '"' + name + '"'});
}

const WorldTables& world_tables() {
  static const WorldTables tables = [] {
    const WorldWords words = make_world_words();
    return WorldTables{words.first_names, words.family_names, make_relations(words)};
  }();
  return tables;
}

}  // namespace buoy::world
