// FTS5's scores against BM25 written down from its documentation:
// https://sqlite.org/fts5.html#the_bm25_function.

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "retrieve/retrieve_data.h"

namespace buoy::retrieve {
namespace {

using testing::TempFolder;
using Words = std::vector<std::string>;

Words words_of(const std::string& text) {
  Words words(1);
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c))) {
      words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

double occurrences(const Words& text, const Words& phrase) {
  double count = 0;
  for (std::size_t at = 0; at + phrase.size() <= text.size(); ++at)
    count += std::equal(phrase.begin(), phrase.end(), text.begin() + static_cast<std::ptrdiff_t>(at));
  return count;
}

struct Scored {
  std::string document;
  double score;
};

// Every document that has one of the phrases, best first.
std::vector<Scored> bm25(const std::vector<TestDocument>& documents, const std::vector<Words>& phrases,
                         const SearchOptions& weights) {
  constexpr double k1 = 1.2, b = 0.75;
  const auto count = static_cast<double>(documents.size());
  double total_words = 0;
  for (const auto& document : documents)
    total_words += static_cast<double>(words_of(document.title).size() + words_of(document.text).size());
  std::vector<Scored> scored;
  for (const auto& document : documents) {
    const Words title = words_of(document.title), text = words_of(document.text);
    double score = 0;
    bool found = false;
    for (const auto& phrase : phrases) {
      double with_phrase = 0;
      for (const auto& other : documents)
        with_phrase +=
            occurrences(words_of(other.title), phrase) + occurrences(words_of(other.text), phrase) > 0;
      double idf = std::log((count - with_phrase + 0.5) / (with_phrase + 0.5));
      if (idf <= 0) idf = 1e-6;
      const double in_title = occurrences(title, phrase), in_text = occurrences(text, phrase);
      found = found || in_title + in_text > 0;
      const double frequency = weights.title_weight * in_title + weights.text_weight * in_text;
      const double length = static_cast<double>(title.size() + text.size()) / (total_words / count);
      score += idf * (frequency * (k1 + 1)) / (frequency + k1 * (1 - b + b * length));
    }
    if (found) scored.push_back({document.id, score});
  }
  std::stable_sort(scored.begin(), scored.end(),
                   [](const auto& x, const auto& y) { return x.score > y.score; });
  return scored;
}

const std::vector<TestDocument> kDocuments = {
    {"light", "Lighthouse", "The lamp of the lighthouse was lit by Mara O'Brien in 1871."},
    {"keeper", "Keeper", "The keeper of the lighthouse slept while the lamp burned and the sea was calm."},
    {"tide", "Tide", "The tide rises twice a day. The tide falls twice a day. Spring tide comes in March."},
    {"boat", "Heron", "The Heron is a boat. The captain of the boat is Ines Dahl."},
    {"mail", "Tern", "Mail for the islands goes with the Tern, the mail boat, when the tide allows."},
    {"brien", "Brien", "O Brien and Brien are two spellings of a name."},
    {"sea", "Sea", "The sea."},
    {"twin1", "Twin", "Copper kettle on a stove."},
    {"twin2", "Twin", "Copper kettle on a stove."},
    {"long", "Words",
     "The the the the captain the the the the the the the the the sea the the the the the lamp."},
};

void expect_same(const std::vector<Hit>& hits, const std::vector<Scored>& expected) {
  ASSERT_EQ(hits.size(), expected.size());
  for (std::size_t i = 0; i < hits.size(); ++i) {
    EXPECT_EQ(hits[i].document, expected[i].document) << "place " << i + 1;
    EXPECT_NEAR(hits[i].score, expected[i].score, 1e-12 * std::abs(expected[i].score) + 1e-18);
  }
}

TEST(Bm25Oracle, ScoresAndOrder) {
  if (!can_index()) GTEST_SKIP() << "a build without SQLite";
  const TempFolder temp;
  const Index index = index_of(temp, kDocuments);
  const struct {
    const char* question;
    std::vector<Words> phrases;
  } cases[] = {
      {"Who lit the lamp of the lighthouse?", {{"lit"}, {"lamp"}, {"lighthouse"}}},
      {"tide", {{"tide"}}},
      {"captain boat tern", {{"captain"}, {"boat"}, {"tern"}}},
      {"O'Brien", {{"o", "brien"}}},
      {"sea, sea, SEA!", {{"sea"}}},
      {"copper kettle", {{"copper"}, {"kettle"}}},
      {"the", {{"the"}}},
      {"unheard-of nowhere", {{"unheard", "of"}, {"nowhere"}}},
  };
  for (const auto& [question, phrases] : cases) {
    SCOPED_TRACE(question);
    expect_same(index.search(question, 100), bm25(kDocuments, phrases, {}));
  }
  const SearchOptions weights{5, 0.5};
  expect_same(index.search("tide sea", 100, weights), bm25(kDocuments, {{"tide"}, {"sea"}}, weights));
}

TEST(Bm25Oracle, TheBestAreTheBeginningOfAll) {
  if (!can_index()) GTEST_SKIP() << "a build without SQLite";
  const TempFolder temp;
  const Index index = index_of(temp, kDocuments);
  const auto all = index.search("sea lamp boat tide", 100);
  for (std::size_t top = 0; top <= all.size(); ++top) {
    const auto some = index.search("sea lamp boat tide", top);
    EXPECT_EQ(some, std::vector<Hit>(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(top)));
  }
  EXPECT_EQ(documents_of(index.search("kettle", 2)), (Words{"twin1", "twin2"}))
      << "ties in the order indexed";
}

// What any ranking of this kind must do, on passages made for it.
TEST(Bm25Properties, OccurrencesLengthAndRarity) {
  if (!can_index()) GTEST_SKIP() << "a build without SQLite";
  const TempFolder temp;
  std::vector<TestDocument> documents = {
      {"once", "", "heron gull gull gull gull gull"},
      {"twice", "", "heron heron gull gull gull gull"},
      {"thrice", "", "heron heron heron gull gull gull"},
      {"short", "", "plover gull"},
      {"longer", "", "plover gull gull gull gull gull gull"},
      {"rare", "", "auk gull gull"},
      {"common", "", "dove gull gull"},
      {"other", "", "dove gull gull"},
  };
  for (int i = 0; i < 12; ++i) documents.push_back({"filler" + std::to_string(i), "", "wave wave wave wave"});
  const Index index = index_of(temp, documents);
  EXPECT_EQ(documents_of(index.search("heron", 9)), (Words{"thrice", "twice", "once"}));
  EXPECT_EQ(documents_of(index.search("plover", 9)), (Words{"short", "longer"}));
  EXPECT_EQ(index.search("auk dove", 9).front().document, "rare");
  const auto score_of = [&](const char* question, const std::string& document) {
    for (const auto& hit : index.search(question, 99)) {
      if (hit.document == document) return hit.score;
    }
    return 0.0;
  };
  EXPECT_GT(score_of("heron", "thrice"), 0);
  EXPECT_EQ(score_of("heron plover", "thrice"), score_of("heron", "thrice")) << "a word that is not there";
  EXPECT_GT(score_of("heron gull", "thrice"), score_of("heron", "thrice")) << "one that is";
}

}  // namespace
}  // namespace buoy::retrieve
