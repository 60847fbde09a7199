#include "buoy/claims/siblings.h"

#include <gtest/gtest.h>

#include "buoy/base/error.h"
#include "claims/claims_support.h"
#include "support/fails_with.h"
#include "support/temp_folder.h"

namespace buoy::claims {
namespace {

using testing::fails_with;
using testing::TempFolder;

NetworkQuantity number(const std::string& network, bool masked_diffusion = true) {
  Network of{network, masked_diffusion, "arm", masked_diffusion ? "full" : "causal"};
  of.weights = "sum of " + network;
  return {"C2", "slope of entropy: per_head", of, "attention", "asked", {-0.04, -0.05, -0.03, 64}};
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

class SiblingFile : public ::testing::Test {
 protected:
  std::vector<StoredQuantity> read(const std::string& csv) const {
    return read_quantities(folder_.write("claim_quantities.csv", csv));
  }
  bool refuses(const std::string& from, const std::string& to,
               std::initializer_list<std::string> words) const {
    return fails_with<InputError>([&] { read(replaced(csv_, from, to)); }, words);
  }

  TempFolder folder_;
  const std::string csv_ = to_csv(quantities_table(std::vector{number("one"), number("two", false)}));
};

TEST_F(SiblingFile, ReadsBackWhatWasWritten) {
  const auto stored = read(csv_);
  ASSERT_EQ(stored.size(), 2u);
  const auto& one = stored[0].quantity;
  EXPECT_EQ(stored[0].rules, rules_hash());
  EXPECT_EQ(one.claim, "C2");
  EXPECT_EQ(one.quantity, "slope of entropy: per_head");
  EXPECT_EQ(one.network, number("one").network);
  EXPECT_EQ(one.network.mask, "full");
  EXPECT_EQ(one.network.objective, "masked tokens");
  EXPECT_TRUE(one.network.sibling);
  EXPECT_EQ(one.questions, "asked");
  EXPECT_EQ(one.estimate.value, -0.04);
  EXPECT_EQ(one.estimate.lower, -0.05);
  EXPECT_EQ(one.estimate.samples, 64);
  EXPECT_FALSE(stored[1].quantity.network.masked_diffusion);
}

TEST_F(SiblingFile, HostileOnesAreRefusedByFileColumnExpectedAndFound) {
  EXPECT_TRUE(fails_with<InputError>([&] { read(""); }, {"claim_quantities.csv", "empty file"}));
  EXPECT_TRUE(refuses("quantity", "quantities", {"claim_quantities.csv:1", "a column quantity"}));
  EXPECT_TRUE(refuses("-0.04", "much", {":2", "column value", "a number", "\"much\""}));
  EXPECT_TRUE(refuses("-0.04", "", {":2", "column value", "a number", "nothing"}));
  EXPECT_TRUE(refuses("-0.04", "inf", {":2", "column value", "a number"}));
  EXPECT_TRUE(refuses("-0.05", "0.5", {":2", "column lower", "no more than upper", "0.5"}));
  EXPECT_TRUE(refuses(",64", ",-1", {":2", "column samples", "whole number", "-1"}));
  EXPECT_TRUE(refuses("masked diffusion", "masked", {":2", "column kind", "autoregressive", "\"masked\""}));
  EXPECT_TRUE(refuses("full", "half", {":2", "column mask", "prefix", "\"half\""}));
  EXPECT_TRUE(
      refuses("one,", std::string(2000, 'x').append(","), {":2", "column network", "1000 characters"}));
  EXPECT_TRUE(refuses("one,", ",", {":2", "column network", "a text", "nothing"}));
  EXPECT_TRUE(refuses(",64", ",64,64", {":2", "cells, as in the first line"}));
}

TEST_F(SiblingFile, CountWhereRulesAndQuestionsAreTheSame) {
  const std::vector<NetworkQuantity> own = {number("mine")};
  const auto same = matching_siblings(read(csv_), own, "t.csv");
  EXPECT_EQ(same.quantities.size(), 2u);
  EXPECT_TRUE(same.notes.empty()) << same.notes[0];

  const auto other_rules = matching_siblings(read(replaced(csv_, rules_hash(), "0123")), own, "t.csv");
  EXPECT_EQ(other_rules.quantities.size(), 1u);
  ASSERT_EQ(other_rules.notes.size(), 1u);
  EXPECT_TRUE(
      says(other_rules.notes[0], "t.csv: 1 network does not count on C2: the rules of verdicts differ (0123"))
      << other_rules.notes[0];

  const auto other_questions = matching_siblings(read(replaced(csv_, ",asked", ",else")), own, "t.csv");
  EXPECT_EQ(other_questions.quantities.size(), 1u);
  ASSERT_EQ(other_questions.notes.size(), 1u);
  EXPECT_TRUE(says(other_questions.notes[0],
                   "questions, prompts or decoding settings differ (else there, asked here"))
      << other_questions.notes[0];
}

TEST_F(SiblingFile, AreNotCountedTwice) {
  const auto siblings = matching_siblings(read(csv_), std::vector{number("one")}, "t.csv");
  ASSERT_EQ(siblings.quantities.size(), 1u);
  EXPECT_EQ(siblings.quantities[0].network.name, "two");
  EXPECT_TRUE(siblings.notes.empty()) << "nothing is wrong with that";
}

TEST_F(SiblingFile, TakeTheDataOfTheStudyThatTheyJoin) {
  auto own = number("mine");
  own.data = "reading";
  EXPECT_EQ(matching_siblings(read(csv_), std::vector{own}, "t.csv").quantities[0].data, "reading");
}

}  // namespace
}  // namespace buoy::claims
