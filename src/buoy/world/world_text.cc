#include "buoy/world/world_text.h"

#include <algorithm>
#include <numeric>

namespace buoy::world {
namespace {

std::string replaced(std::string text, const std::string& slot, const std::string& value) {
  const size_t at = text.find(slot);
  return at == std::string::npos ? text : text.replace(at, slot.size(), value);
}

const std::string& pick(const std::vector<std::string>& list, std::uint32_t count, WorldDraws& draws) {
  return list[draws.below(count)];
}

// A pronoun only where the sentence begins: templates do not know grammar.
std::string subject(const Person& person, const std::string& statement, WorldDraws& draws) {
  const double u = draws.unit();
  if (u < kFullNameShare) return person.name();
  if (u < kFullNameShare + kFamilyNameShare || !statement.starts_with("{s}")) return person.family_name();
  return person.pronoun();
}

}  // namespace

std::vector<size_t> drawn_relations(const BiographyOptions& options, WorldDraws& draws) {
  std::vector<size_t> all(world_tables().relations.size());
  std::iota(all.begin(), all.end(), size_t{0});
  if (options.must_not_say) std::erase(all, *options.must_not_say);
  draws.shuffle(all);
  if (options.must_say) {
    std::erase(all, *options.must_say);
    all.insert(all.begin(), *options.must_say);
  }
  all.resize(kFewestStatements + draws.below(kMostStatements - kFewestStatements + 1));
  draws.shuffle(all);
  return all;
}

std::string write_statements(const Person& person, const std::vector<size_t>& relations, WorldDraws& draws) {
  std::string text;
  for (const size_t r : relations) {
    const auto& statements = world_tables().relations[r].statements;
    const bool opening = text.empty();
    const std::string& statement =
        pick(statements, opening ? 2 : static_cast<std::uint32_t>(statements.size()), draws);
    const std::string who = opening ? person.name() : subject(person, statement, draws);
    if (!opening) text += ' ';
    text += replaced(replaced(statement, "{s}", who), "{v}", person.values[r]);
  }
  return text;
}

std::string write_biography(const Person& person, const BiographyOptions& options, WorldDraws& draws) {
  return write_statements(person, drawn_relations(options, draws), draws);
}

std::string write_question(const std::string& about, size_t relation, WorldDraws& draws) {
  const auto& questions = world_tables().relations.at(relation).questions;
  return replaced(pick(questions, static_cast<std::uint32_t>(questions.size()), draws), "{n}", about);
}

std::vector<std::string> accepted_answers(const std::string& value, size_t relation) {
  std::vector<std::string> answers = {value};
  const std::string& name = world_tables().relations.at(relation).name;
  if (name == "work" && value.starts_with("The ")) answers.push_back(value.substr(4));
  if (name == "birth_date") {
    const size_t month = value.find(' ') + 1, year = value.rfind(' ') + 1;
    answers.push_back(value.substr(month, year - month - 1) + ' ' + value.substr(0, month - 1) + ", " +
                      value.substr(year));
  }
  return answers;
}

}  // namespace buoy::world
