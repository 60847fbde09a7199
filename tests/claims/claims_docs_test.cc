// docs/verdicts.md says by which rules claims are judged; it is printed from the code.
#include <gtest/gtest.h>

#include <algorithm>

#include "buoy/base/file/files.h"
#include "buoy/base/sha256.h"
#include "claims/claims_support.h"

namespace buoy::claims {
namespace {

TEST(RulesInDocs, AreThoseOfTheCode) {
  const auto page = read_file(std::filesystem::path(BUOY_TEST_DATA) / ".." / ".." / "docs" / "verdicts.md");
  EXPECT_EQ(page, describe_verdicts()) << "build/dev/bin/describe_verdicts > docs/verdicts.md";
  EXPECT_TRUE(says(page, rules_hash()));
}

TEST(RulesHash, IsThatOfTheCanonicalText) {
  EXPECT_EQ(rules_hash(), sha256_hex(canonical_rules()));
  EXPECT_TRUE(is_sha256_hex(rules_hash()));
}

TEST(CanonicalRules, HoldEveryNumberThatJudgesTake) {
  const std::string text = canonical_rules();
  for (const auto* line :
       {"C1|Spearman of anchor and step|above|0|0.1||0|the masked-diffusion arm||Spearman of anchor and "
        "step\n",
        "C2|slope of entropy|below|0|0.02|nats|0|",
        "C6|Pearson of layer and retrieval score|above|0|0.1||0.001|",
        "C7|ratio of the gains, masked diffusion over autoregressive|above|2|0.1||0|masked diffusion over "
        "autoregressive||gain in exact match\n",
        "C9|straight line over places, late minus early|within|0|0.05|of exact match|0|"})
    EXPECT_TRUE(says(text, line)) << line;
  for (const auto* number : {"fewer than 10 samples", "0.05 together", "from 5 networks", "at least 0.9 of",
                             "fewer than 3 places", "fewer than 5 places", "p below 0.025"})
    EXPECT_TRUE(says(text, number)) << number;
}

// What the hash is for: a rule that is judged by and not hashed could change unseen.
TEST(CanonicalRules, AreWhatVerdictsSayAsTheirTest) {
  for (const auto& claim : judge_claims({}, {})) {
    EXPECT_EQ(claim.test, test_of(rule_of(claim.id)));
    for (const auto& quantity : rule_of(claim.id).quantities)
      EXPECT_TRUE(says(claim.test, words_of(quantity))) << claim.test;
  }
}

TEST(ClaimsTable, HasTheVersionOfTheRulesInEveryRow) {
  const Table out = claims_table(judge_claims({}, {}));
  ASSERT_FALSE(out.rows.empty());
  for (const auto& row : out.rows) EXPECT_EQ(text_of(row.back()), rules_hash());
}

}  // namespace
}  // namespace buoy::claims
