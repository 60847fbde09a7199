#include "buoy/questions/noise.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "buoy/base/error.h"
#include "buoy/base/random.h"
#include "buoy/questions/data/evidence.h"

namespace buoy::questions {
namespace {

constexpr std::array<std::pair<Noise, const char*>, 5> kNames = {{{Noise::kRandom, "random"},
                                                                  {Noise::kRetrieved, "retrieved"},
                                                                  {Noise::kContradiction, "contradiction"},
                                                                  {Noise::kShuffled, "shuffled"},
                                                                  {Noise::kRepeated, "repeated"}}};

// What a draw decides; part of its address.
enum class Choice : std::uint32_t { kOrder, kPassage, kWords, kPlace };

std::string shuffled_words(const std::string& text, const std::function<double(std::uint32_t)>& draw) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = text.find_first_not_of(" \t\r\n", at);
    if (begin == std::string::npos) break;
    at = std::min(text.find_first_of(" \t\r\n", begin), text.size());
    words.push_back(text.substr(begin, at - begin));
  }
  for (std::size_t i = words.size(); i > 1; --i) {
    const auto j = static_cast<std::size_t>(draw(static_cast<std::uint32_t>(i)) * static_cast<double>(i));
    std::swap(words[i - 1], words[j]);
  }
  return fmt::format("{}", fmt::join(words, " "));
}

// What an answer looks like: with digits or without, in how many words.
struct Shape {
  bool digits = false;
  std::ptrdiff_t words = 0;

  friend bool operator==(const Shape&, const Shape&) = default;
};

Shape shape_of(const std::string& answer) {
  return {answer.find_first_of("0123456789") != std::string::npos,
          std::count(answer.begin(), answer.end(), ' ') + 1};
}

std::string replace_ranges(const std::string& text, const std::vector<ByteRange>& ranges,
                           const std::string& other) {
  std::string out;
  std::size_t at = 0;
  for (const auto& range : ranges) {
    out += text.substr(at, range.begin - at) + other;
    at = range.end;
  }
  return out + text.substr(at);
}

}  // namespace

std::string name_of(Noise noise) {
  return std::find_if(kNames.begin(), kNames.end(), [&](const auto& entry) { return entry.first == noise; })
      ->second;
}

std::vector<std::string> noise_names() {
  std::vector<std::string> names;
  for (const auto& [kind, name] : kNames) names.emplace_back(name);
  return names;
}

Noise noise_from_name(const std::string& name) {
  for (const auto& [kind, known] : kNames) {
    if (name == known) return kind;
  }
  throw_usage_error({"noise", fmt::format("one of {}", fmt::join(noise_names(), ", ")), '"' + name + '"'});
}

NoisePool::NoisePool(std::span<const Item> items) {
  for (const auto& item : items.subspan(0, std::min(items.size(), kMostItems))) {
    if (item.passages.empty() && item.answers.empty()) continue;
    sources_.push_back({item.id, item.answers.empty() ? "" : item.answers[0], item.passages});
  }
}

// Makes the noise of one item.
class NoiseMaker {
 public:
  NoiseMaker(const Item& item, std::size_t number, const NoisePool& pool, const NoiseOptions& options)
      : item_(item), number_(static_cast<std::uint32_t>(number)), pool_(pool), options_(options) {}

  std::vector<Passage> make() const {
    switch (options_.kind) {
      case Noise::kRandom:
        return of_others(options_.count);
      case Noise::kRetrieved:
        return own();
      case Noise::kContradiction:
        return contradictions();
      case Noise::kShuffled:
        return shuffled();
      case Noise::kRepeated:
        break;
    }
    if (options_.count == 0) return {};
    return std::vector<Passage>(options_.count, of_others(1)[0]);
  }

  std::size_t place(std::size_t count) const {
    return static_cast<std::size_t>(draw(Choice::kPlace, 0) * static_cast<double>(count + 1));
  }

 private:
  double draw(Choice choice, std::uint32_t index) const {
    return uniform(options_.seed, {DrawStream::kNoise, number_, static_cast<std::uint32_t>(choice), index});
  }

  // Other items in an order of this item's own.
  std::vector<const NoisePool::Source*> others() const {
    std::vector<std::pair<double, const NoisePool::Source*>> order;
    for (std::size_t i = 0; i < pool_.sources_.size(); ++i) {
      if (pool_.sources_[i].id != item_.id)
        order.emplace_back(draw(Choice::kOrder, static_cast<std::uint32_t>(i)), &pool_.sources_[i]);
    }
    std::sort(order.begin(), order.end());
    std::vector<const NoisePool::Source*> out;
    for (const auto& entry : order) out.push_back(entry.second);
    return out;
  }

  [[noreturn]] void too_few(const std::string& what, std::size_t found) const {
    throw_input_error({fmt::format("item {}: noise \"{}\"", item_.id, name_of(options_.kind)),
                       fmt::format("{} {}", options_.count, what), fmt::format("{}", found)});
  }

  // A passage that happens to hold the answer, if only in its title, is no noise.
  bool holds_answer(const Passage& passage) const {
    return !find_evidence(passage.title, item_.answers).empty() ||
           !find_evidence(passage.text, item_.answers).empty();
  }

  std::vector<Passage> of_others(std::size_t count) const {
    std::vector<Passage> out;
    for (const auto* source : others()) {
      if (out.size() == count) break;
      if (source->passages.empty()) continue;
      const auto which =
          static_cast<std::size_t>(draw(Choice::kPassage, static_cast<std::uint32_t>(out.size())) *
                                   static_cast<double>(source->passages.size()));
      const Passage& passage = source->passages[which];
      if (holds_answer(passage)) continue;
      out.push_back({passage.title, passage.text, false, std::nullopt});
    }
    if (out.size() < count) too_few("other items with a passage", out.size());
    return out;
  }

  std::vector<Passage> own() const {
    std::vector<Passage> out;
    for (const auto& passage : item_.passages) {
      const bool wrong = !passage.gold && !passage.has_answer.value_or(false) && !holds_answer(passage);
      if (wrong && out.size() < options_.count) out.push_back(passage);
    }
    if (out.size() < options_.count)
      too_few("passages of its own that are not gold and hold no answer", out.size());
    return out;
  }

  std::vector<Passage> contradictions() const {
    const auto gold = std::find_if(item_.passages.begin(), item_.passages.end(),
                                   [](const Passage& passage) { return passage.gold; });
    if (gold == item_.passages.end() || options_.count == 0) return {};
    const auto ranges = find_evidence(gold->text, item_.answers);
    if (ranges.empty()) {
      throw_input_error({fmt::format("item {}: gold passage", item_.id),
                         "an answer in it, to be replaced by another", "none of the answers"});
    }
    // A date for a date, a name for a name where there are some: a contradiction should be believable.
    auto sources = others();
    const Shape own = shape_of(item_.answers[0]);
    std::stable_partition(sources.begin(), sources.end(),
                          [&](const auto* source) { return shape_of(source->answer) == own; });
    std::vector<Passage> out;
    for (const auto* source : sources) {
      if (out.size() == options_.count) break;
      if (source->answer.empty() || !find_evidence(source->answer, item_.answers).empty()) continue;
      out.push_back({gold->title, replace_ranges(gold->text, ranges, source->answer), false, std::nullopt});
    }
    if (out.size() < options_.count) too_few("other items with another answer", out.size());
    return out;
  }

  std::vector<Passage> shuffled() const {
    auto out = of_others(options_.count);
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i].text = shuffled_words(out[i].text, [&](std::uint32_t index) {
        return draw(Choice::kWords, static_cast<std::uint32_t>(i) << 16 | index);
      });
    }
    return out;
  }

  const Item& item_;
  std::uint32_t number_;
  const NoisePool& pool_;
  const NoiseOptions& options_;
};

Item with_noise(const Item& item, std::size_t number, const NoisePool& pool, const NoiseOptions& options) {
  std::vector<Passage> gold;
  std::copy_if(item.passages.begin(), item.passages.end(), std::back_inserter(gold),
               [](const Passage& passage) { return passage.gold; });
  if (gold.empty()) {
    throw_input_error({fmt::format("item {}: passages", item.id), "one that is marked gold",
                       fmt::format("none in {}", item.passages.size())});
  }
  const NoiseMaker maker(item, number, pool, options);
  Item out = item;
  out.prompt.reset();
  out.passages = maker.make();
  const std::size_t place = maker.place(out.passages.size());
  out.passages.insert(out.passages.begin() + static_cast<std::ptrdiff_t>(place), gold.begin(), gold.end());
  return out;
}

}  // namespace buoy::questions
