// Scores of questions: the passage that an answer rests on, texts as sums of their tokens, on the bundled
// pair.

#include "buoy/run/score/score_run.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "buoy/base/error.h"
#include "buoy/model/model_reference.h"
#include "buoy/questions/data/item_reader.h"
#include "buoy/questions/prompt/builtin_prompts.h"
#include "buoy/result/schema/score.h"
#include "run/runs.h"
#include "score/scores.h"
#include "support/fails_with.h"
#include "support/golden.h"

namespace buoy::run {
namespace {

using testing::fails_with;
using testing::log_softmax;
using testing::masked_form;
using Ids = std::vector<std::int32_t>;

// Questions about people whom the pair knows nothing of: the answer stands in one passage.
class PairScore : public ::testing::TestWithParam<bool> {
 protected:
  PairScore() : model_(load_model(testing::pair_model(GetParam()).path)) {
    const auto data = testing::write_world(scratch_, {.count = 4, .passages = 3});
    request_.items = questions::read_items(data, {});
    request_.prompt_template = testing::pair_spec(data, {}).prompt_template;
    if (GetParam()) request_.score.form = ScoreForm::kPath;
  }
  std::vector<ScoredItem> scored() {
    ThreadPool threads(2);
    return score_items({threads}, model_, request_, {});
  }
  // All that the model can be scored by.
  static std::vector<ScoreOptions> forms() {
    if (!GetParam()) return {ScoreOptions{}};
    return {masked_form(ScoreForm::kOneShot), masked_form(ScoreForm::kPath),
            masked_form(ScoreForm::kPath, PathOrder::kDecoding)};
  }

  testing::TempFolder scratch_;
  LoadedModel model_;
  ScoreRequest request_;
};
INSTANTIATE_TEST_SUITE_P(Pair, PairScore, ::testing::Bool(),
                         [](const auto& p) { return p.param ? "diffusion" : "autoregressive"; });

TEST_P(PairScore, FindsThePassageThatTheAnswerRestsOn) {
  request_.leave_out = true;
  for (const auto& form : forms()) {
    request_.score = form;
    const auto items = scored();
    const auto tables = score_tables(items, request_, model_);
    const auto& summary = schema::score_summary;
    SCOPED_TRACE(text_of(tables[0].rows[0][tables[0].column(summary.form)]));
    ASSERT_EQ(tables.size(), 4u);
    const auto& t = schema::score_passages;
    ASSERT_TRUE(tables[3].is(t));
    EXPECT_EQ(tables[3].rows.size(), 12u);
    for (const auto& row : tables[3].rows) {
      if (number_of(row[tables[3].column(t.gold)]) != 1) continue;
      EXPECT_EQ(number_of(row[tables[3].column(t.rank)]), 1);
      EXPECT_GT(number_of(row[tables[3].column(t.influence)]), 1);
    }
    EXPECT_EQ(number_of(tables[0].rows[0][tables[0].column(summary.gold_first)]), 1);
    EXPECT_EQ(number_of(tables[0].rows[0][tables[0].column(summary.items)]), 4);
  }
}

// The prompt is there already: the passage's text is taken out of it.
TEST_P(PairScore, FindsThePassageInAReadyPrompt) {
  request_.leave_out = true;
  request_.prompt_template = questions::kReadyPrompts;
  for (auto& item : request_.items) {
    item.prompt = "";
    for (std::size_t n = 0; n < item.passages.size(); ++n)
      *item.prompt += "Passage " + std::to_string(n + 1) + ": " + item.passages[n].text + '\n';
    *item.prompt += "Question: " + item.question + "\nAnswer:";
  }
  request_.items[3].passages[1].text += " (not in the prompt)";
  const auto items = scored();
  EXPECT_NE(items[3].error.find("passage 2 word for word"), std::string::npos) << items[3].error;
  for (std::size_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(items[i].error.empty()) << items[i].error;
    const double all = items[i].answers[0].score.sum();
    for (const auto& passage : items[i].passages) {
      EXPECT_EQ(all - passage.without > 1, passage.gold);
      EXPECT_NE(all, passage.without) << "a passage less is another prompt";
    }
  }
}

TEST_P(PairScore, PassagesThatThePromptDoesNotHaveCannotBeLeftOut) {
  request_.leave_out = true;
  request_.prompt_template = scratch_.write("alone.prompt", "Question: {{question}}\nAnswer:").string();
  for (const auto& item : scored())
    EXPECT_NE(item.error.find("passage 1 in it"), std::string::npos) << item.error;
}

TEST_P(PairScore, PrefersTheAnswerThatThePassagesSay) {
  for (auto& item : request_.items) item.answers = {item.answers[0], "Emirex Group"};
  for (const auto& item : scored()) {
    ASSERT_EQ(item.answers.size(), 2u) << item.error;
    EXPECT_GT(item.answers[0].score.sum(), item.answers[1].score.sum());
  }
}

// A text's log-probability is the sum over its tokens but the first, each from a pass in double over what is
// known before it.
TEST_P(PairScore, ATextIsTheSumOfItsTokens) {
  questions::Item item;
  item.id = "text", item.prompt = "Question: Who employs Klados Hebwick?\nAnswer: Emirex Group";
  request_.texts = true;
  request_.prompt_template.clear();
  request_.items = {item};
  const Ids ids = model_.tokenizer->encode(*item.prompt, true).ids;
  const auto& config = model_.model.config();
  const model::PlainPass<double> pass(config, model_.model.weights());
  const std::size_t offset = GetParam() ? 0 : 1;
  // Of the token at `place`, where those before `known` stand and a masked model has masks behind them.
  const auto expected = [&](std::size_t place, std::size_t known) {
    Ids row = ids;
    if (GetParam())
      std::fill(row.begin() + static_cast<std::ptrdiff_t>(known), row.end(), *config.mask_token);
    const auto logits = pass.forward({row, {}}).logits;
    const auto vocabulary = static_cast<std::size_t>(config.vocabulary);
    return log_softmax(std::span(logits).subspan((place - offset) * vocabulary, vocabulary), ids[place]);
  };
  const auto all_forms = forms();
  for (const auto& form : std::span(all_forms).first(GetParam() ? 2 : 1)) {
    request_.score = form;
    const bool at_once = form.form == ScoreForm::kOneShot;
    double sum = 0;
    for (std::size_t place = 1; place < ids.size(); ++place) sum += expected(place, at_once ? 1 : place);
    const auto items = scored();
    ASSERT_TRUE(items[0].error.empty()) << items[0].error;
    const auto& found = items[0].answers[0];
    EXPECT_EQ(found.tokens, Ids(ids.begin() + 1, ids.end()));
    EXPECT_NEAR(found.score.sum(), sum, 1e-3);
    const auto summary = score_tables(items, request_, model_)[0];
    const double perplexity = number_of(summary.rows[0][summary.column(schema::score_summary.perplexity)]);
    EXPECT_NEAR(std::log(perplexity), -sum / static_cast<double>(ids.size() - 1), 1e-4);
  }
}

// Its own language, and the same words in disorder.
TEST_P(PairScore, ATextIsLessPerplexingThanItsWordsInDisorder) {
  request_.texts = true;
  request_.prompt_template.clear();
  questions::Item text, disorder;
  text.id = "text", text.prompt = "Question: Who employs Klados Hebwick?\nAnswer:";
  disorder.id = "disorder", disorder.prompt = "Hebwick: employs?\nKlados Answer Who Question:";
  request_.items = {text, disorder};
  const auto items = scored();
  ASSERT_TRUE(items[0].error.empty() && items[1].error.empty()) << items[0].error << items[1].error;
  const auto mean = [](const ScoredItem& item) {
    return item.answers[0].score.sum() / static_cast<double>(item.answers[0].tokens.size());
  };
  EXPECT_GT(mean(items[0]), mean(items[1]) + 0.5);
}

TEST_P(PairScore, AQuestionThatCannotBeScoredFailsAlone) {
  request_.leave_out = true;
  request_.items[1].passages.resize(1);
  const auto items = scored();
  EXPECT_NE(items[1].error.find("at least two passages"), std::string::npos) << items[1].error;
  EXPECT_TRUE(items[0].error.empty());
  const auto summary = score_tables(items, request_, model_)[0];
  EXPECT_EQ(number_of(summary.rows[0][summary.column(schema::score_summary.failed)]), 1);
}

TEST(Continuation, HasOneSpaceBeforeIt) {
  EXPECT_EQ(continuation("Answer:", "Emirex"), " Emirex");
  EXPECT_EQ(continuation("Answer: ", "Emirex"), "Emirex");
  EXPECT_EQ(continuation("Answer:", " Emirex"), " Emirex");
  EXPECT_EQ(continuation("Answer\n", "Emirex"), "Emirex");
}

}  // namespace
}  // namespace buoy::run
