#include "buoy/questions/score/answer.h"

#include <gtest/gtest.h>

#include "buoy/base/error.h"
#include "questions/questions_data.h"
#include "support/fails_with.h"

namespace buoy::questions {
namespace {

using testing::fails_with;
using text::ChatStyle;

class AnswerTest : public ::testing::Test {
 protected:
  std::vector<std::int32_t> ids_of(const std::string& text) const {
    return tokenizer_.encode(text, false).ids;
  }

  CleanAnswer cleaned(const std::string& slots, const AnswerRules& rules) const {
    return clean_answer(ids_of(slots), tokenizer_, rules);
  }

  const text::Tokenizer tokenizer_ = tiny_tokenizer();
  const AnswerRules llada_ = answer_rules(ChatStyle::kLlada, tokenizer_);
};

TEST_F(AnswerTest, EndsBeforeTheFirstEndMarker) {
  for (const std::string marker : {"<|endoftext|>", "<|eot_id|>"}) {
    const CleanAnswer answer = cleaned("Paris" + marker + "London<|eot_id|>Rome", llada_);
    EXPECT_EQ(answer.text, "Paris");
    EXPECT_TRUE(answer.ended);
    EXPECT_EQ(answer.tokens, ids_of("Paris").size());
  }
}

// What ends an answer is what the template puts behind one, and the tokenizer's own end.
TEST_F(AnswerTest, AFoldersTemplateSaysHowAnswersEnd) {
  const auto chat = text::ChatTemplate::parse(
      "{% for m in messages %}<|start_header_id|>{{ m.role }}<|end_header_id|>{{ m.content }}<|eot_id|>{% "
      "endfor %}</think>",
      "t", {{"eos_token", "<|endoftext|>"}});
  const AnswerRules rules = answer_rules(chat, tokenizer_);
  EXPECT_EQ(rules.end_ids, llada_.end_ids);
  EXPECT_TRUE(rules.drop_thought);
  EXPECT_EQ(cleaned("Paris<|eot_id|>London", rules).text, "Paris");
}

TEST_F(AnswerTest, WithoutAnEndMarkerAllSlotsCount) {
  const CleanAnswer answer = cleaned("Paris", llada_);
  EXPECT_EQ(answer.text, "Paris");
  EXPECT_FALSE(answer.ended);
  EXPECT_EQ(answer.tokens, ids_of("Paris").size());
}

TEST_F(AnswerTest, AtOnceEndedIsEmpty) {
  EXPECT_EQ(cleaned("<|eot_id|>Paris", llada_).text, "");
  EXPECT_EQ(cleaned("<|eot_id|>Paris", llada_).tokens, 0U);
  EXPECT_EQ(clean_answer({}, tokenizer_, llada_).text, "");
}

TEST_F(AnswerTest, TheAuthorsLladaKeepsTextBehindTheEnd) {
  AnswerRules rules = llada_;
  rules.keep_text_after_end = true;
  const CleanAnswer answer = cleaned("Paris<|eot_id|> London<|endoftext|>", rules);
  EXPECT_EQ(answer.text, "Paris London");
  EXPECT_TRUE(answer.ended);
  EXPECT_EQ(answer.tokens, ids_of("Paris").size());
}

TEST_F(AnswerTest, SpecialTokensAreNoText) {
  EXPECT_EQ(cleaned("<|mdm_mask|>Pa<|mdm_mask|>ris", llada_).text, "Paris");
}

TEST_F(AnswerTest, WhiteSpaceAroundItGoes) {
  EXPECT_EQ(cleaned(" \n Paris\u00a0\n<|eot_id|>", llada_).text, "Paris");
}

TEST_F(AnswerTest, TheFirstLineIsTheFirstThatIsNotBlank) {
  EXPECT_EQ(cleaned("\n\nParis \nbecause\nit is", llada_).text, "Paris \nbecause\nit is");
  AnswerRules rules = llada_;
  rules.first_line_only = true;
  EXPECT_EQ(cleaned("\n\nParis \nbecause\nit is", rules).text, "Paris");
  EXPECT_EQ(cleaned("Paris", rules).text, "Paris");
}

TEST_F(AnswerTest, ThoughtsAreDroppedWhereTheFamilyThinks) {
  AnswerRules rules = llada_;
  rules.drop_thought = true;
  EXPECT_EQ(cleaned("<think>\nRome?\n</think>\n\nParis", rules).text, "Paris");
  EXPECT_EQ(cleaned("Paris", rules).text, "Paris");
}

TEST_F(AnswerTest, EveryFamilyHasItsMarkers) {
  const std::int32_t end_of_text = *tokenizer_.token_id("<|endoftext|>");
  const std::int32_t end_of_turn = *tokenizer_.token_id("<|eot_id|>");
  EXPECT_EQ(llada_.end_ids, (std::vector<std::int32_t>{end_of_text, end_of_turn}));
  EXPECT_EQ(answer_rules(ChatStyle::kLlama31, tokenizer_).end_ids, std::vector<std::int32_t>{end_of_turn});
  EXPECT_EQ(answer_rules(ChatStyle::kDream, tokenizer_).end_ids, std::vector<std::int32_t>{end_of_text});
  EXPECT_FALSE(answer_rules(ChatStyle::kQwen25, tokenizer_).drop_thought);
  EXPECT_TRUE(answer_rules(ChatStyle::kQwen3, tokenizer_).drop_thought);
}

TEST_F(AnswerTest, ATokenizerOfAnotherKindIsRefused) {
  std::string json = read_file(std::filesystem::path(BUOY_TEST_DATA) / "text/tiny_tokenizer.json");
  for (std::size_t at = 0; (at = json.find("<|endoftext|>", at)) != std::string::npos;)
    json.replace(at, 13, "<|otherwise|>");
  const auto other = text::Tokenizer::from_json(json, "other");
  EXPECT_TRUE(
      fails_with<InputError>([&] { answer_rules(ChatStyle::kDream, other); },
                             {"tokenizer", "end marker of the chat template dream", "<|im_end|>", "none"}));
}

}  // namespace
}  // namespace buoy::questions
