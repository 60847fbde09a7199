#include "buoy/text/tokenizer/bpe.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "buoy/base/error.h"
#include "buoy/text/tokenizer/byte_alphabet.h"
#include "text/support.h"

namespace buoy::text {
namespace {

struct Rules {
  std::vector<std::string> spellings;
  std::vector<std::pair<std::string, std::string>> merges;
};

// Merges of random pairs over a few letters, so that ranks are out of any natural order.
Rules random_rules(std::mt19937& random, size_t merges) {
  Rules rules;
  for (int byte = 0; byte < 256; ++byte)
    rules.spellings.push_back(spell_bytes(std::string(1, static_cast<char>(byte))));
  std::vector<std::string> parts = {"a", "b", "c"};
  std::map<std::pair<std::string, std::string>, bool> seen;
  while (rules.merges.size() < merges) {
    const auto pick = [&] { return parts[random() % parts.size()]; };
    const std::pair<std::string, std::string> merge = {pick(), pick()};
    if (merge.first.size() + merge.second.size() > 9 || !seen.emplace(merge, true).second) continue;
    rules.merges.push_back(merge);
    const std::string result = merge.first + merge.second;
    if (std::find(parts.begin(), parts.end(), result) != parts.end()) continue;
    parts.push_back(result);
    rules.spellings.push_back(result);
  }
  std::shuffle(rules.merges.begin(), rules.merges.end(), random);
  return rules;
}

Bpe make_bpe(const Rules& rules, bool ignore_merges) {
  Vocabulary vocabulary(rules.spellings, "test");
  MergeTable merges(rules.merges.size());
  for (const auto& [left, right] : rules.merges) merges.add(vocabulary, left, right, "test");
  return Bpe(std::move(vocabulary), std::move(merges), BpeRules{.ignore_merges = ignore_merges});
}

std::vector<std::string> merge_by_definition(const Rules& rules, const std::string& piece) {
  std::vector<std::string> parts;
  for (const char c : piece) parts.emplace_back(1, c);
  for (;;) {
    size_t best = rules.merges.size(), best_at = 0;
    for (size_t i = 0; i + 1 < parts.size(); ++i) {
      for (size_t rank = 0; rank < best; ++rank) {
        if (rules.merges[rank].first == parts[i] && rules.merges[rank].second == parts[i + 1]) {
          best = rank;
          best_at = i;
        }
      }
    }
    if (best == rules.merges.size()) return parts;
    parts[best_at] += parts[best_at + 1];
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(best_at) + 1);
  }
}

std::vector<std::string> encode(const Bpe& bpe, const std::string& piece) {
  std::vector<BpeToken> tokens;
  bpe.encode(piece, tokens);
  std::vector<std::string> parts;
  size_t at = 0;
  for (const BpeToken& token : tokens) {
    parts.emplace_back(bpe.vocabulary().bytes(token.id));
    EXPECT_EQ(parts.back(), piece.substr(at, token.length));
    at += token.length;
  }
  EXPECT_EQ(at, piece.size());
  return parts;
}

TEST(Bpe, AgreesWithTheDefinitionOnShortAndLongPieces) {
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    const Rules rules = random_rules(random, 25);
    const Bpe bpe = make_bpe(rules, false);
    for (const size_t length : {1, 2, 3, 5, 8, 20, 47, 48, 49, 60, 130}) {
      std::string piece;
      for (size_t i = 0; i < length; ++i) piece += static_cast<char>('a' + random() % 3);
      EXPECT_EQ(encode(bpe, piece), merge_by_definition(rules, piece)) << piece;
    }
  }
}

TEST(Bpe, LeftmostOfEqualPairsMergesFirst) {
  Rules rules = {{}, {{"a", "a"}}};
  for (int byte = 0; byte < 256; ++byte)
    rules.spellings.push_back(spell_bytes(std::string(1, static_cast<char>(byte))));
  rules.spellings.push_back("aa");
  const Bpe bpe = make_bpe(rules, false);
  EXPECT_EQ(encode(bpe, "aaa"), (std::vector<std::string>{"aa", "a"}));
  const auto parts = encode(bpe, std::string(101, 'a'));
  EXPECT_EQ(parts.size(), 51U);
  EXPECT_EQ(parts.back(), "a");
}

TEST(Bpe, WholePieceWinsOnlyWhenMergesAreIgnored) {
  Rules rules = {{}, {{"a", "b"}}};
  for (int byte = 0; byte < 256; ++byte)
    rules.spellings.push_back(spell_bytes(std::string(1, static_cast<char>(byte))));
  rules.spellings.insert(rules.spellings.end(), {"ab", "abc"});
  EXPECT_EQ(encode(make_bpe(rules, false), "abc"), (std::vector<std::string>{"ab", "c"}));
  EXPECT_EQ(encode(make_bpe(rules, true), "abc"), (std::vector<std::string>{"abc"}));
  EXPECT_EQ(encode(make_bpe(rules, true), "abcabc"), (std::vector<std::string>{"ab", "c", "ab", "c"}));
}

TEST(MergeTable, RefusesUnknownAndRepeatedMerges) {
  std::vector<std::string> spellings;
  for (int byte = 0; byte < 256; ++byte)
    spellings.push_back(spell_bytes(std::string(1, static_cast<char>(byte))));
  spellings.push_back("ab");
  const Vocabulary vocabulary(spellings, "f");
  MergeTable merges(4);
  merges.add(vocabulary, "a", "b", "f");
  EXPECT_THROW(merges.add(vocabulary, "a", "b", "f"), InputError);
  EXPECT_THROW(merges.add(vocabulary, "a", "c", "f"), InputError);
  EXPECT_THROW(merges.add(vocabulary, "zz", "c", "f"), InputError);
  EXPECT_THROW(merges.add(vocabulary, "", "ab", "f"), InputError);
  EXPECT_EQ(merges.size(), 1U);
  EXPECT_EQ(merges.find('a', 'b').result, 256);
  EXPECT_EQ(merges.find('b', 'a').rank, Merge::kNone);
}

}  // namespace
}  // namespace buoy::text
