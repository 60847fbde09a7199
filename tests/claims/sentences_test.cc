// Findings in plain sentences.

#include "buoy/claims/sentences.h"

#include <gtest/gtest.h>

#include <set>

#include "buoy/claims/claims_evidence.h"

namespace buoy::claims {
namespace {

ClaimVerdict claim_with(const std::string& id, Verdict verdict, std::vector<Measured> measured) {
  ClaimVerdict claim;
  claim.id = id;
  claim.verdict = verdict;
  claim.by_trace.push_back({"d", verdict, {}, {}, {}, {}, std::move(measured)});
  return claim;
}

const Measured kRises{std::string(rules::kStep.what), "0.41 [0.35, 0.47]", Finding::kFor, "as claimed", 24};
const Measured kStays{std::string(rules::kStatic.what), "0.7 [0.66, 0.8]", Finding::kAgainst, "the other way",
                      24};
const Measured kOpen{std::string(rules::kStepGivenFrontier.what), "0.1 [-0.2, 0.3]", Finding::kUndecided,
                     "too wide an interval for a margin of 0.1", 12};

TEST(Sentences, EveryClaimHasWordsForEveryVerdict) {
  std::set<std::string> leads, topics;
  for (const auto& rule : claim_rules()) {
    const ClaimWords& words = words_of_claim(rule.id);
    EXPECT_TRUE(topics.insert(words.topic).second) << words.topic;
    for (const Verdict verdict : {Verdict::kSupported, Verdict::kContradicted, Verdict::kNoDifference,
                                  Verdict::kMixed, Verdict::kUndecided, Verdict::kNotTestable}) {
      const std::string lead = words.lead(verdict);
      EXPECT_FALSE(lead.empty()) << rule.id;
      EXPECT_TRUE(leads.insert(lead).second) << "twice: " << lead;
    }
    EXPECT_NE(std::string(words.undecided).find("is not decided"), std::string::npos) << rule.id;
    EXPECT_NE(std::string(words.not_testable).find("could not be tested"), std::string::npos) << rule.id;
  }
  EXPECT_EQ(claim_words().size(), claim_rules().size());
}

TEST(Sentences, EveryQuantityOfARuleHasPlainWords) {
  for (const auto& rule : claim_rules()) {
    for (const auto& quantity : rule.quantities)
      EXPECT_NE(std::string(plain_words(quantity.what)), "") << rule.id << ": " << quantity.what;
  }
}

TEST(Sentences, SayTheNumberThatTheVerdictRestsOn) {
  EXPECT_EQ(
      sentence_of(claim_with("C1", Verdict::kSupported, {kOpen, kRises})),
      "Anchors move right as denoising goes on: rank correlation of anchor and step 0.41 [0.35, 0.47], 24 "
      "questions.");
  EXPECT_EQ(
      sentence_of(claim_with("C1", Verdict::kContradicted, {kRises, kStays})),
      "Anchors do not move right as denoising goes on: share of anchors that never move 0.7 [0.66, 0.8], 24 "
      "questions.");
}

TEST(Sentences, OfAMixedVerdictSayWhatSpeaksForItAndWhatDoesNot) {
  EXPECT_EQ(
      sentence_of(claim_with("C1", Verdict::kMixed, {kOpen, kStays, kRises})),
      "Anchors move right as denoising goes on in some respects, not in others: as claimed, rank correlation "
      "of anchor and step 0.41 [0.35, 0.47]; not so, share of anchors that never move 0.7 [0.66, 0.8]; open, "
      "rank correlation of anchor and step with the frontier held fixed 0.1 [-0.2, 0.3] (too wide an "
      "interval for a margin of 0.1); 12 to 24 questions.");
}

TEST(Sentences, CallWhatLiesInsideTheMarginTooSmall) {
  const Measured small{std::string(rules::kSink.what), "0.017 [0.016, 0.018]", Finding::kEqual, "", 24};
  const std::string sentence = sentence_of(claim_with("C4", Verdict::kMixed, {small}));
  EXPECT_NE(
      sentence.find("too small to count, excess share of the first token in the autoregressive model 0.017"),
      std::string::npos)
      << sentence;
}

TEST(Sentences, SayWhyNothingWasDecided) {
  EXPECT_EQ(
      sentence_of(claim_with("C1", Verdict::kUndecided, {kOpen})),
      "Whether anchors move right as denoising goes on is not decided: open, rank correlation of anchor and "
      "step with the frontier held fixed 0.1 [-0.2, 0.3] (too wide an interval for a margin of 0.1), 12 "
      "questions.");
  ClaimVerdict lacking = claim_with("C10", Verdict::kNotTestable, {});
  lacking.needs = "buoy eval with `columns_from`";
  EXPECT_EQ(
      sentence_of(lacking),
      "Whether answers need floating tokens could not be tested: this takes buoy eval with `columns_from`.");
  ClaimVerdict failed = claim_with("C10", Verdict::kNotTestable, {});
  failed.failure = "no such column";
  EXPECT_EQ(sentence_of(failed), "Whether answers need floating tokens could not be tested: no such column.");
}

TEST(Sentences, OfSeveralTracesTakeOneThatSaysWhatAllSayAndNameIt) {
  ClaimVerdict claim = claim_with("C1", Verdict::kMixed, {kStays});
  claim.by_trace[0].verdict = Verdict::kContradicted;
  claim.by_trace.push_back({"e", Verdict::kMixed, {}, {}, {}, {}, {kRises}});
  claim.parts = "of 2: 1 contradicted, 1 mixed";
  EXPECT_EQ(
      sentence_of(claim),
      "Anchors move right as denoising goes on in some respects, not in others: as claimed, rank correlation "
      "of anchor and step 0.41 [0.35, 0.47], 24 questions. These are numbers of e. d: contradicted, share of "
      "anchors that never move 0.7 [0.66, 0.8], 24 questions.");
  claim.by_trace.push_back({"f", Verdict::kNotTestable, {}, "this", {}, {}, {}});
  claim.parts = "of 3: 1 contradicted, 1 mixed, 1 not testable with this data";
  EXPECT_TRUE(
      sentence_of(claim).ends_with("These are numbers of e; of 3: 1 contradicted, 1 mixed, 1 not "
                                   "testable with this data."))
      << sentence_of(claim);
}

TEST(Sentences, SayWhatTheNumbersOfAClaimHide) {
  ClaimVerdict claim = claim_with("C9", Verdict::kSupported, {});
  claim.remark = "This is at the ceiling: m answers every question.";
  EXPECT_EQ(
      sentence_of(claim),
      "Masked diffusion is not worse when the gold passage stands in the middle. This is at the ceiling: "
      "m answers every question.");
}

// What judges find must be sayable: no quantity without plain words.
TEST(Sentences, JudgesMeasureWhatTheyJudge) {
  const Reading reading{{{0.5, 0.4, 0.6, 30}}, {}, {}};
  const Part part = judge(reading, Expectation(rules::kStep));
  ASSERT_EQ(part.measured.size(), 1u);
  EXPECT_EQ(part.measured[0].value, "0.5 [0.4, 0.6]");
  EXPECT_EQ(part.measured[0].samples, 30);
  EXPECT_EQ(part.measured[0].finding, Finding::kFor);
  const Part open = judge({{{0.1, -0.4, 0.6, 30}}, {}, {}}, Expectation(rules::kStep));
  EXPECT_EQ(open.measured[0].why, "too wide an interval for a margin of 0.1");
  const TraceVerdict verdict = judge_trace("d", std::vector<Part>{part, open});
  EXPECT_EQ(verdict.measured.size(), 2u);
  const Part layers = judge_layers(std::vector<Estimate>{{0.5, 0.4, 0.6, 30}, {0.3, 0.2, 0.4, 30}},
                                   Expectation(rules::kStepByLayer));
  ASSERT_EQ(layers.measured.size(), 1u);
  EXPECT_EQ(layers.measured[0].value, "0.3 to 0.5");
  EXPECT_EQ(layers.measured[0].finding, Finding::kFor);
}

}  // namespace
}  // namespace buoy::claims
