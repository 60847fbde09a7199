#include "buoy/world/world2_items.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "buoy/base/error.h"
#include "buoy/base/field_name.h"
#include "buoy/world/world2_tables.h"
#include "buoy/world/world2_text.h"
#include "buoy/world/world_draws.h"
#include "buoy/world/world_text.h"

namespace buoy::world {
namespace {

constexpr std::uint32_t kEndless = std::uint32_t{1} << 31;          // unknown people are numbered below this
constexpr std::uint32_t kQuestion = 0, kPassages = 1, kPrompt = 2;  // parts of an item's draws
constexpr std::uint32_t kNamePeriod = 8;  // adding it to a name's place keeps the name held out

constexpr std::array<std::pair<const char*, World2Task>, 7> kTasks = {{
    {"lookup", World2Task::kLookup},
    {"similar-names", World2Task::kSimilarNames},
    {"two-hop", World2Task::kTwoHop},
    {"newest", World2Task::kNewest},
    {"undecided", World2Task::kUndecided},
    {"list", World2Task::kList},
    {"life", World2Task::kLife},
}};

std::uint32_t size_of(size_t size) {
  return static_cast<std::uint32_t>(size);
}

bool is_long(World2Task task) {
  return task == World2Task::kList || task == World2Task::kLife;
}

void check(const World& world, const World2SetOptions& options) {
  const World2Tables& tables = world2_tables();
  const std::string task = name_of(options.task);
  if (world.options().version != 2) {
    throw_usage_error({"version of the world", "2", std::to_string(world.options().version)});
  }
  if (options.passages > tables.most_passages) {
    throw_usage_error({field_name("passages"), fmt::format("at most {}", tables.most_passages),
                       std::to_string(options.passages)});
  }
  const bool pair = options.task == World2Task::kTwoHop || options.task == World2Task::kNewest ||
                    options.task == World2Task::kUndecided || options.task == World2Task::kSimilarNames;
  const std::uint32_t fewest = options.task == World2Task::kLookup ? 0 : pair ? 2 : 1;
  if (options.passages < fewest) {
    throw_usage_error({field_name("passages") + " of task " + task, fmt::format("{} or more", fewest),
                       std::to_string(options.passages)});
  }
  if (options.people != WorldPeople::kUnknown && options.task != World2Task::kLookup) {
    throw_usage_error({field_name("people") + " of task " + task, "unknown", name_of(options.people)});
  }
  const auto& all = world.options();
  if ((options.people == WorldPeople::kAsked && all.asked == 0) ||
      (options.people == WorldPeople::kReadOnly && all.read_only == 0)) {
    throw_usage_error({"people", "a group with someone in it", name_of(options.people)});
  }
  if (options.style && *options.style >= tables.styles.size()) {
    throw_usage_error(
        {"style", fmt::format("a number below {}", tables.styles.size()), std::to_string(*options.style)});
  }
  if (options.wording && *options.wording >= tables.wordings.size()) {
    throw_usage_error({"wording", fmt::format("a number below {}", tables.wordings.size()),
                       std::to_string(*options.wording)});
  }
}

// Makes one item; holds its draws and the people in it.
class ItemMaker {
 public:
  ItemMaker(const World& world, const World2SetOptions& options, std::uint32_t number)
      : world_(world),
        options_(options),
        asking_(options.seed, WorldStream::kItem2, number, kQuestion),
        telling_(options.seed, WorldStream::kItem2, number, kPassages),
        prompting_(options.seed, WorldStream::kItem2, number, kPrompt) {}

  questions::Item make(std::string id) {
    item_.id = std::move(id);
    person_ = asked_person();
    item_.labels = {
        {"task", name_of(options_.task)}, {"kind", name_of(person_.group)}, {"person", person_.name()}};
    is_long(options_.task) ? ask_for_all() : ask_for_one();
    add_passages();
    const PromptForm form = drawn_form();
    item_.prompt = write_prompt(item_, form);
    item_.labels["style"] = world2_tables().styles[form.style].name;
    item_.labels["wording"] = world2_tables().wordings[form.wording].name;
    return std::move(item_);
  }

 private:
  static constexpr size_t kNoRelation = static_cast<size_t>(-1);

  Person asked_person() {
    const std::uint32_t asked = world_.options().asked;
    switch (options_.people) {
      case WorldPeople::kAsked:
        return world_.known()[asking_.below(asked)];
      case WorldPeople::kReadOnly:
        return world_.known()[asked + asking_.below(world_.options().read_only)];
      case WorldPeople::kUnknown:
        break;
    }
    return world_.unknown(asking_.below(kEndless));
  }

  PromptForm drawn_form() {
    const size_t style = prompting_.below(size_of(world2_tables().styles.size()));
    const size_t wording = prompting_.below(size_of(world2_tables().wordings.size()));
    return {options_.style.value_or(style), options_.wording.value_or(wording)};
  }

  // A relation to a person, or none such, or any.
  size_t drawn_relation(std::optional<bool> to_person) {
    const auto& relations = world_tables().relations;
    for (;;) {
      const size_t r = asking_.below(size_of(relations.size()));
      if (!to_person || relations[r].is_person() == *to_person) return r;
    }
  }

  void ask_for_one() {
    const auto& relations = world_tables().relations;
    const bool two_hop = options_.task == World2Task::kTwoHop;
    if (two_hop) hop_ = drawn_relation(true);
    relation_ = two_hop ? drawn_relation(false) : drawn_relation({});
    target_ = two_hop ? world_.relative(person_, hop_) : person_;
    const std::string about =
        two_hop ? with_slot(relations[hop_].noun, "{n}", person_.name()) : person_.name();
    item_.question = write_question(about, relation_, asking_);
    if (options_.task == World2Task::kNewest) item_.question += ' ' + world2_tables().newest_counts;
    item_.answers = accepted_answers(target_.values[relation_], relation_);
    item_.labels["relation"] = relations[relation_].name;
  }

  // A biography whose facts make an answer of the right length.
  void ask_for_all() {
    const World2Tables& tables = world2_tables();
    const bool list = options_.task == World2Task::kList;
    const auto& questions = list ? tables.list_questions : tables.life_questions;
    item_.question = with_slot(questions[asking_.below(size_of(questions.size()))], "{n}", person_.name());
    std::string answer;
    do {
      told_ = drawn_relations({}, asking_);
      answer = list ? list_answer(person_, told_) : life_answer(person_, told_);
    } while (world_token_count(answer) < tables.fewest_long || world_token_count(answer) > tables.most_long);
    target_ = person_;
    item_.answers = {answer};
    item_.labels["relation"] = name_of(options_.task);
  }

  void add_passages() {
    if (options_.passages == 0) return;
    present_ = {person_, target_};
    for (size_t r = 0; r < world_tables().relations.size();
         ++r) {  // nobody's biography may answer by accident
      if (world_tables().relations[r].is_person()) present_.push_back(world_.relative(target_, r));
    }
    switch (options_.task) {
      case World2Task::kTwoHop:
        add_chains();
        break;
      case World2Task::kSimilarNames:
        add_namesakes();
        break;
      case World2Task::kNewest:
      case World2Task::kUndecided:
        add_contradiction();
        break;
      case World2Task::kList:
      case World2Task::kLife:
        add(person_, write_statements(person_, told_, telling_), true);
        break;
      case World2Task::kLookup:
        add(person_, write_biography(person_, {.must_say = relation_, .must_not_say = {}}, telling_), true);
        break;
    }
    while (item_.passages.size() < options_.passages) {
      const Person person = stranger();
      add(person, write_biography(person, {}, telling_), false);
    }
    telling_.shuffle(item_.passages);
    if (options_.task == World2Task::kUndecided) label_order();
  }

  void add(const Person& person, std::string text, bool gold) {
    if (options_.task == World2Task::kNewest) text = dated(gold, person) + ' ' + text;
    item_.passages.push_back({.title = person.name(), .text = std::move(text), .gold = gold});
  }

  // The record of the right value is newer than that of the wrong one; those of other people are drawn.
  std::string dated(bool gold, const Person& person) {
    const World2Tables& tables = world2_tables();
    const std::uint32_t years = tables.last_year - tables.first_year + 1;
    std::uint32_t year = telling_.below(years);
    if (person.name() == person_.name()) {
      if (gold) gold_year_ = year = 1 + telling_.below(years - 1);
      if (!gold) year = telling_.below(gold_year_);
    }
    return with_slot(tables.record_statement, "{y}", std::to_string(tables.first_year + year));
  }

  // Somebody else, whose first and family name nobody here has, and who does not share the answer.
  Person stranger() {
    for (;;) {
      Person person = world_.unknown(telling_.below(kEndless));
      const bool clash = std::any_of(present_.begin(), present_.end(), [&](const Person& other) {
        return other.first == person.first || other.family == person.family;
      });
      if (clash || gives_answer(person)) continue;
      present_.push_back(person);
      return person;
    }
  }

  bool gives_answer(const Person& person) const {
    return relation_ != kNoRelation && person.values[relation_] == target_.values[relation_];
  }

  // This relation of a person, perhaps also `second`, and some others.
  std::string telling(const Person& person, size_t first, size_t second = kNoRelation) {
    std::vector<size_t> relations = drawn_relations({.must_say = first, .must_not_say = {}}, telling_);
    if (second != kNoRelation && std::find(relations.begin(), relations.end(), second) == relations.end()) {
      const auto at = std::find_if(relations.begin(), relations.end(), [&](size_t r) { return r != first; });
      *at = second;
    }
    return write_statements(person, relations, telling_);
  }

  // Everybody states the asked relation and names somebody among the passages as mentor (or spouse).
  void add_chains() {
    std::vector<Person> people = {person_, target_};
    while (people.size() < options_.passages) people.push_back(stranger());
    for (size_t i = 0; i < people.size(); ++i) {
      if (i != 0) {
        size_t other = telling_.below(size_of(people.size()) - 1);
        if (other >= i) ++other;
        people[i].values[hop_] = people[other].name();
      }
    }
    for (size_t i = 0; i < people.size(); ++i) add(people[i], telling(people[i], relation_, hop_), i < 2);
  }

  // People out of a square of first and family names, so that one name never tells who is meant. The first
  // two share the first and the family name of the one asked about.
  void add_namesakes() {
    const auto side = static_cast<std::uint32_t>(std::max(2.0, std::ceil(std::sqrt(options_.passages))));
    const std::vector<std::uint32_t> firsts =
        names_like(person_.first, world_tables().first_names.size(), side);
    const std::vector<std::uint32_t> families =
        names_like(person_.family, world_tables().family_names.size(), side);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> cells;
    for (std::uint32_t i = 0; i < side; ++i) {
      for (std::uint32_t j = 0; j < side; ++j) {
        if (i + j > 1) cells.emplace_back(i, j);
      }
    }
    telling_.shuffle(cells);
    cells.insert(cells.begin(), {{0, 1}, {1, 0}});
    add(person_, telling(person_, relation_), true);
    for (size_t i = 0; item_.passages.size() < options_.passages; ++i) {
      Person person = stranger();
      person.first = firsts[cells[i].first];
      person.family = families[cells[i].second];
      add(person, telling(person, relation_), false);
    }
  }

  // `count` places of names, the first one given, whose combinations are all held out.
  std::vector<std::uint32_t> names_like(std::uint32_t name, size_t names, std::uint32_t count) {
    std::vector<std::uint32_t> chosen = {name};
    const std::uint32_t period = kNamePeriod, choices = size_of(names) / period;
    while (chosen.size() < count) {
      const std::uint32_t other = name % period + period * telling_.below(choices);
      if (std::find(chosen.begin(), chosen.end(), other) == chosen.end()) chosen.push_back(other);
    }
    return chosen;
  }

  void add_contradiction() {
    const bool undecided = options_.task == World2Task::kUndecided;
    Person rival = person_;
    rival.values = stranger().values;
    own_text_ = telling(person_, relation_);
    add(person_, own_text_, true);
    add(rival, telling(rival, relation_), undecided);
    rival_value_ = rival.values[relation_];
    if (!undecided) {
      item_.labels["rival"] = rival_value_;
      return;
    }
    for (auto& answer : accepted_answers(rival_value_, relation_)) item_.answers.push_back(std::move(answer));
  }

  void label_order() {
    const auto first = std::find_if(item_.passages.begin(), item_.passages.end(),
                                    [](const questions::Passage& p) { return p.gold; });
    const std::string value = target_.values[relation_];
    const bool own_first = first->text == own_text_;
    item_.labels["first"] = own_first ? value : rival_value_;
    item_.labels["second"] = own_first ? rival_value_ : value;
  }

  const World& world_;
  const World2SetOptions& options_;
  WorldDraws asking_, telling_, prompting_;
  questions::Item item_;
  Person person_, target_;
  size_t relation_ = kNoRelation, hop_ = kNoRelation;
  std::vector<size_t> told_;            // of kList and kLife
  std::string own_text_, rival_value_;  // of contradictions
  std::uint32_t gold_year_ = 0;
  std::vector<Person> present_;
};

}  // namespace

std::string name_of(World2Task task) {
  for (const auto& [name, value] : kTasks) {
    if (value == task) return name;
  }
  return "?";
}

World2Task world2_task_from_name(const std::string& name) {
  std::string known;
  for (const auto& [spelling, value] : kTasks) {
    if (name == spelling) return value;
    known += (known.empty() ? "" : ", ") + std::string(spelling);
  }
  throw_usage_error({field_name("task"), "one of " + known, '"' + name + '"'});
}

std::vector<questions::Item> make_world2_set(const World& world, const World2SetOptions& options) {
  check(world, options);
  const std::string prefix = fmt::format("{}-{}-{}", name_of(options.people), name_of(options.task),
                                         options.passages == 0 ? "closed" : std::to_string(options.passages));
  std::vector<questions::Item> items;
  for (std::uint32_t i = 0; i < options.count; ++i) {
    items.push_back(ItemMaker(world, options, i).make(fmt::format("{}-{:05}", prefix, i)));
  }
  return items;
}

}  // namespace buoy::world
