#include "buoy/world/world_items.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "buoy/base/error.h"
#include "buoy/world/world_draws.h"
#include "buoy/world/world_text.h"

namespace buoy::world {
namespace {

constexpr std::uint32_t kEndless = std::uint32_t{1} << 31;  // unknown people are numbered below this

std::string shuffled_words(const std::string& text, WorldDraws& draws) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  draws.shuffle(words);
  std::string result;
  for (const auto& word : words) result += (result.empty() ? "" : " ") + word;
  return result;
}

void check(const World& world, const WorldSetOptions& options) {
  const auto& relations = world_tables().relations;
  const auto group = [&](WorldPeople people) {
    return people == WorldPeople::kAsked ? world.options().asked : world.options().read_only;
  };
  if (options.people != WorldPeople::kUnknown && group(options.people) == 0) {
    throw_usage_error({"people", "a group with someone in it", name_of(options.people)});
  }
  if (options.gold_position > options.passages) {
    throw_usage_error({"gold position", fmt::format("at most {} passages", options.passages),
                       std::to_string(options.gold_position)});
  }
  if (options.relation && *options.relation >= relations.size()) {
    throw_usage_error(
        {"relation", fmt::format("a number below {}", relations.size()), std::to_string(*options.relation)});
  }
  if (options.two_hop && options.relation && relations[*options.relation].is_person()) {
    throw_usage_error({"relation", "not a relation to a person when asking in two hops",
                       relations[*options.relation].name});
  }
  if (options.two_hop && (options.passages == 1 || options.gold_position != 0)) {
    throw_usage_error({"two hops", "no passages, or two and more with drawn places",
                       fmt::format("{} passages, gold at {}", options.passages, options.gold_position)});
  }
  if (options.noise == WorldNoise::kContradiction && options.passages < 2) {
    throw_usage_error({"contradiction", "two passages or more", std::to_string(options.passages)});
  }
}

// Makes one item; holds its draws and the people in it.
class ItemMaker {
 public:
  ItemMaker(const World& world, const WorldSetOptions& options, std::uint32_t number)
      : world_(world), options_(options), draws_(options.seed, WorldStream::kItem, number) {}

  questions::Item make(std::string id) {
    const Person person = asked_person();
    const auto& relations = world_tables().relations;
    const size_t hop = options_.two_hop ? drawn_relation(true) : relations.size();
    relation_ = options_.relation.value_or(drawn_relation_of_options());
    const Person target = options_.two_hop ? world_.relative(person, hop) : person;
    const std::string about =
        options_.two_hop ? replaced_name(relations[hop].noun, person.name()) : person.name();

    questions::Item item;
    item.id = std::move(id);
    item.question = write_question(about, relation_, draws_);
    item.answers = accepted_answers(target.values[relation_], relation_);
    item.labels = {{"kind", name_of(person.group)},
                   {"relation", relations[relation_].name},
                   {"person", person.name()},
                   {"hops", options_.two_hop ? "2" : "1"}};
    if (options_.passages == 0) return item;

    item.labels["noise"] = name_of(options_.noise);
    present_ = {person, target};
    for (size_t r = 0; r < relations.size(); ++r) {  // nobody's biography may answer by accident
      if (relations[r].is_person()) present_.push_back(world_.relative(target, r));
    }
    const std::uint32_t golds = options_.two_hop ? 2 : 1;
    while (item.passages.size() + golds < options_.passages)
      item.passages.push_back(distractor(target, item));
    if (options_.noise == WorldNoise::kContradiction) draws_.shuffle(item.passages);  // the liar comes first
    place(item, gold_passage(target, relation_));
    if (options_.two_hop) place(item, gold_passage(person, hop));
    return item;
  }

 private:
  static std::string replaced_name(std::string phrase, const std::string& name) {
    return phrase.replace(phrase.find("{n}"), 3, name);
  }

  Person asked_person() {
    if (options_.people == WorldPeople::kUnknown) return world_.unknown(draws_.below(kEndless));
    const std::uint32_t asked = world_.options().asked;
    return options_.people == WorldPeople::kAsked
               ? world_.known()[draws_.below(asked)]
               : world_.known()[asked + draws_.below(world_.options().read_only)];
  }

  size_t drawn_relation(bool to_person) {
    const auto& relations = world_tables().relations;
    for (;;) {
      const size_t r = draws_.below(static_cast<std::uint32_t>(relations.size()));
      if (relations[r].is_person() == to_person) return r;
    }
  }

  size_t drawn_relation_of_options() {
    if (options_.two_hop) return drawn_relation(false);
    return draws_.below(static_cast<std::uint32_t>(world_tables().relations.size()));
  }

  questions::Passage gold_passage(const Person& person, size_t relation) {
    return {.title = person.name(),
            .text = write_biography(person, {.must_say = relation, .must_not_say = {}}, draws_),
            .gold = true};
  }

  // Somebody else. Unless names shall be similar, nobody in an item shares any name with another.
  Person stranger(const Person& target) {
    for (;;) {
      Person person = world_.unknown(draws_.below(kEndless));
      if (options_.noise == WorldNoise::kSimilarName) {
        if (draws_.below(2) == 0) {
          person.first = target.first;
        } else {
          person.family = target.family;
        }
        if (!is_held_out_name(person.first, person.family)) continue;
      }
      const bool clash = std::any_of(present_.begin(), present_.end(), [&](const Person& other) {
        if (options_.noise == WorldNoise::kSimilarName) return other.name() == person.name();
        return other.first == person.first || other.family == person.family;
      });
      if (clash) continue;
      present_.push_back(person);
      return person;
    }
  }

  questions::Passage distractor(const Person& target, const questions::Item& item) {
    const bool first = item.passages.empty();
    if (options_.noise == WorldNoise::kRepeated && !first) return item.passages.front();
    if (options_.noise == WorldNoise::kContradiction && first) return contradiction(target);
    const Person person = stranger(target);
    std::optional<size_t> must, must_not;
    if (options_.noise == WorldNoise::kSameRelation || options_.noise == WorldNoise::kSimilarName) {
      must = relation_;
    }
    if (options_.noise == WorldNoise::kIrrelevant) must_not = relation_;
    std::string text = write_biography(person, {.must_say = must, .must_not_say = must_not}, draws_);
    if (options_.noise == WorldNoise::kShuffled) text = shuffled_words(text, draws_);
    return {.title = person.name(), .text = std::move(text)};
  }

  questions::Passage contradiction(const Person& target) {
    Person liar = target;
    liar.values = stranger(target).values;
    while (liar.values[relation_] == target.values[relation_]) {
      liar.values = world_.unknown(draws_.below(kEndless)).values;
    }
    return {.title = target.name(),
            .text = write_biography(liar, {.must_say = relation_, .must_not_say = {}}, draws_)};
  }

  void place(questions::Item& item, questions::Passage passage) {
    const auto places = static_cast<std::uint32_t>(item.passages.size()) + 1;
    const std::uint32_t at = options_.gold_position > 0 ? options_.gold_position - 1 : draws_.below(places);
    item.passages.insert(item.passages.begin() + at, std::move(passage));
  }

  const World& world_;
  const WorldSetOptions& options_;
  WorldDraws draws_;
  size_t relation_ = 0;
  std::vector<Person> present_;
};

}  // namespace

std::vector<questions::Item> make_world_set(const World& world, const WorldSetOptions& options) {
  check(world, options);
  const std::string prefix = fmt::format(
      "{}{}-{}", name_of(options.people), options.two_hop ? "-two-hop" : "",
      options.passages == 0 ? "closed" : fmt::format("{}-{}", name_of(options.noise), options.passages));
  std::vector<questions::Item> items;
  for (std::uint32_t i = 0; i < options.count; ++i) {
    items.push_back(ItemMaker(world, options, i).make(fmt::format("{}-{:05}", prefix, i)));
  }
  return items;
}

}  // namespace buoy::world
