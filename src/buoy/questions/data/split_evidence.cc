#include "buoy/questions/data/split_evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "buoy/base/error.h"

namespace buoy::questions {
namespace {

// Bytes at which a sentence begins: behind '.', '!' or '?' and white space, where no lower-case letter
// follows.
std::vector<std::size_t> sentence_begins(const std::string& text) {
  std::vector<std::size_t> begins = {0};
  for (std::size_t i = 0; i + 2 < text.size(); ++i) {
    const bool end = text[i] == '.' || text[i] == '!' || text[i] == '?';
    const char next = text[i + 2];
    if (end && (text[i + 1] == ' ' || text[i + 1] == '\n') && !(next >= 'a' && next <= 'z') && next != ' ')
      begins.push_back(i + 2);
  }
  return begins;
}

// Begins of `parts` pieces: the sentence nearest to each equal share, never the same twice.
std::vector<std::size_t> piece_begins(const std::vector<std::size_t>& sentences, std::size_t bytes,
                                      std::size_t parts) {
  std::vector<std::size_t> begins = {0};
  std::size_t from = 1;
  for (std::size_t part = 1; part < parts; ++part) {
    const std::size_t wish = bytes * part / parts, last = sentences.size() - (parts - part);
    std::size_t best = from;
    const auto distance = [&](std::size_t i) {
      return sentences[i] > wish ? sentences[i] - wish : wish - sentences[i];
    };
    for (std::size_t i = from; i <= last; ++i) {
      if (distance(i) < distance(best)) best = i;
    }
    begins.push_back(sentences[best]);
    from = best + 1;
  }
  return begins;
}

}  // namespace

void split_evidence(Item& item, std::size_t parts) {
  const auto found = std::find_if(item.passages.begin(), item.passages.end(),
                                  [](const Passage& passage) { return passage.gold; });
  if (found == item.passages.end()) {
    throw_input_error({fmt::format("item {}: passages", item.id), "one that is marked gold",
                       fmt::format("none in {}", item.passages.size())});
  }
  if (parts <= 1) return;
  const Passage gold = *found;
  const auto sentences = sentence_begins(gold.text);
  if (sentences.size() < parts) {
    throw_input_error({fmt::format("item {}: gold passage", item.id),
                       fmt::format("at least {} sentences, to split it", parts),
                       fmt::format("{}", sentences.size())});
  }
  item.passages.erase(found);
  const auto begins = piece_begins(sentences, gold.text.size(), parts);
  const std::size_t places = item.passages.size() + parts;
  std::vector<Passage> out;
  auto other = item.passages.begin();
  std::size_t part = 0;
  for (std::size_t place = 0; place < places; ++place) {
    // Part p stands at the place nearest to (p + 1/2) / parts of the way.
    const bool due = part < parts && (place + 1) * 2 * parts >= (2 * part + 1) * places;
    if (due || other == item.passages.end()) {
      const std::size_t end = part + 1 < parts ? begins[part + 1] : gold.text.size();
      std::string text = gold.text.substr(begins[part], end - begins[part]);
      text.erase(text.find_last_not_of(" \n") + 1);
      out.push_back({gold.title, std::move(text), true, gold.has_answer});
      ++part;
    } else {
      out.push_back(std::move(*other++));
    }
  }
  item.passages = std::move(out);
}

}  // namespace buoy::questions
