// Log-probabilities of given answers: against numbers of an independent implementation (models of next
// tokens), against plain loops in double (masks, both forms), against what a model is sure of when it decodes
// the same answer itself.

#include "buoy/run/score/answer_score.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "buoy/base/error.h"
#include "buoy/decode/drive.h"
#include "buoy/model/model_reference.h"
#include "score/scores.h"
#include "support/fails_with.h"
#include "support/family_case.h"

namespace buoy::run {
namespace {

using testing::fails_with;
using testing::log_softmax;
using testing::masked_form;
using Ids = std::vector<std::int32_t>;

double rms(const std::vector<double>& a, const std::vector<double>& b) {
  return testing::rms_difference(a, b);
}

// Logits of PyTorch (tools/goldens), which agree with transformers' classes, in double and in float32.
TEST(NextTokenScore, EqualsAnotherImplementation) {
  ThreadPool threads(2);
  int compared = 0;
  for (const auto& name : testing::golden_cases()) {
    const testing::Golden golden(name);
    model::Model model = model::Model::load(golden.folder());
    if (is_masked_diffusion(model.config().family)) continue;
    std::vector<double> ours, exact, plain;
    for (const std::string text : {"A", "B"}) {
      const auto ids = golden.ids(text + ".ids");
      const auto of_double = golden.numbers(text + ".logits_f64"),
                 of_float = golden.numbers(text + ".logits_f32");
      const auto vocabulary = static_cast<std::size_t>(model.config().vocabulary);
      const std::size_t given = 3;
      const auto scored =
          score_tokens({threads}, model, {}, std::span(ids).first(given), std::span(ids).subspan(given));
      ours.insert(ours.end(), scored.log_probability.begin(), scored.log_probability.end());
      for (std::size_t p = given; p < ids.size(); ++p) {
        const auto row = [&](const std::vector<double>& logits) {
          return std::span(logits).subspan((p - 1) * vocabulary, vocabulary);
        };
        exact.push_back(log_softmax(row(of_double), ids[p]));
        plain.push_back(log_softmax(row(of_float), ids[p]));
      }
    }
    EXPECT_LE(rms(ours, exact), 2 * rms(plain, exact)) << name;
    ++compared;
  }
  EXPECT_GE(compared, 6);
}

struct MaskedCase {
  std::string name, rule;
  bool shifted = false;  // rows are
};
std::filesystem::path folder_of(const std::string& name) {
  const auto golden = testing::data_folder() / "goldens" / name;
  return std::filesystem::exists(golden) ? golden : testing::family_folder(name);
}
class MaskedScore : public ::testing::TestWithParam<MaskedCase> {
 protected:
  MaskedScore() : threads_(2), model_(model::Model::load(folder_of(GetParam().name))) {
    if (!GetParam().rule.empty()) decode_.decoding_rule = GetParam().rule;
    if (!config().mask_token) decode_.mask_token = static_cast<std::int32_t>(config().vocabulary - 1);
    if (blocks() && !config().block_length) decode_.block_length = 4;
    decode_.shifted_rows = GetParam().shifted;
    draw(0);
  }

  const ModelConfig& config() const { return model_.config(); }
  bool blocks() const { return decode::decodes_blocks(config(), decode_); }
  std::int32_t mask() const { return decode_.mask_token.value_or(config().mask_token.value_or(-1)); }
  // Another prompt and answer; no mask is among them.
  void draw(std::int32_t number) {
    const auto most = static_cast<std::int32_t>(config().vocabulary - 8);
    const auto token = [&](std::int32_t n) { return n % most == mask() ? n % most + 1 : n % most; };
    prompt_.clear(), answer_.clear();
    for (std::int32_t i = 0; i < 9; ++i) prompt_.push_back(token(i * 31 + 4 + 7 * number));
    for (std::int32_t i = 0; i < 6; ++i) answer_.push_back(token(i * 17 + 11 + 5 * number));
  }
  AnswerScore score(ScoreOptions options) {
    options.decode = decode_;
    return score_tokens({threads_}, model_, options, prompt_, answer_);
  }

  // The answer's first `known` tokens stand, the others are masks. Of all places, by a pass in Number.
  template <typename Number>
  std::vector<double> plain_row(const std::vector<bool>& known) {
    Ids row = prompt_;
    for (std::size_t i = 0; i < answer_.size(); ++i) row.push_back(known[i] ? answer_[i] : mask());
    const model::PlainPass<Number> pass(config(), model_.weights());
    model::SequenceInput input{row, {}};
    input.prefix = std::ssize(prompt_);
    const auto states = pass.forward(input);
    const auto offset = static_cast<std::size_t>(decode::prediction_offset(config(), decode_));
    const auto vocabulary = static_cast<std::size_t>(config().vocabulary);
    std::vector<double> out;
    for (std::size_t i = 0; i < answer_.size(); ++i) {
      const auto first =
          states.logits.begin() + static_cast<std::ptrdiff_t>((prompt_.size() + i - offset) * vocabulary);
      logits_.assign(first, first + static_cast<std::ptrdiff_t>(vocabulary));
      rows_.push_back(logits_);
      out.push_back(log_softmax(logits_, answer_[i]));
    }
    return out;
  }

  ThreadPool threads_;
  model::Model model_;
  DecodeOptions decode_;
  Ids prompt_, answer_;
  std::vector<double> logits_;
  std::vector<std::vector<double>> rows_;
};

std::string masked_case_name(const ::testing::TestParamInfo<MaskedCase>& test) {
  std::string name = test.param.name + (test.param.rule.empty() ? "" : "-" + test.param.rule) +
                     (test.param.shifted ? "-shifted" : "");
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

// Those whose rows see all of the canvas, or the blocks that their config states.
class PlainMaskedScore : public MaskedScore {};
INSTANTIATE_TEST_SUITE_P(Families, PlainMaskedScore,
                         ::testing::Values(MaskedCase{"llada-f32", ""}, MaskedCase{"dream-f32", ""},
                                           MaskedCase{"llada-moe-f32", ""}, MaskedCase{"rnd1-f32", ""},
                                           MaskedCase{"a2d-qwen3-f32", "mdlm"}, MaskedCase{"sdar-f32", ""}),
                         masked_case_name);

// Enough of them that single errors do not decide.
constexpr std::int32_t kDraws = 24;

void append(std::vector<double>& all, const std::vector<double>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

TEST_P(PlainMaskedScore, OneShotEqualsAPlainPass) {
  std::vector<double> exact, plain, ours;
  for (std::int32_t number = 0; number < kDraws; ++number) {
    draw(number);
    const std::vector<bool> none(answer_.size(), false);
    append(exact, plain_row<double>(none));
    append(plain, plain_row<float>(none));
    const auto scored = score(masked_form(ScoreForm::kOneShot));
    append(ours, scored.log_probability);
    EXPECT_EQ(scored.step, (Ids(answer_.size(), 0)));
  }
  EXPECT_LE(rms(ours, exact), 2 * rms(plain, exact));
}

TEST_P(PlainMaskedScore, ThePathFromLeftToRightEqualsPlainPasses) {
  std::vector<double> exact, plain, ours;
  for (std::int32_t number = 0; number < kDraws; ++number) {
    draw(number);
    std::vector<bool> known(answer_.size(), false);
    for (std::size_t i = 0; i < answer_.size(); ++i) {
      exact.push_back(plain_row<double>(known)[i]);
      plain.push_back(plain_row<float>(known)[i]);
      known[i] = true;
    }
    const auto scored = score(masked_form(ScoreForm::kPath));
    append(ours, scored.log_probability);
    Ids steps(answer_.size());
    std::iota(steps.begin(), steps.end(), 0);
    EXPECT_EQ(scored.step, steps);
  }
  EXPECT_LE(rms(ours, exact), 2 * rms(plain, exact));
}

// LLaDA's order: in every step the position whose likeliest token is most probable.
TEST_P(PlainMaskedScore, ThePathOfTheDecodingEqualsAPlainLoop) {
  if (!GetParam().name.starts_with("llada") && GetParam().rule != "mdlm") return;
  std::vector<bool> known(answer_.size(), false);
  std::vector<double> exact(answer_.size());
  Ids steps(answer_.size(), -1);
  for (std::size_t step = 0; step < answer_.size(); ++step) {
    rows_.clear();
    const auto values = plain_row<double>(known);
    std::size_t surest = answer_.size();
    double most = -1;
    for (std::size_t i = 0; i < answer_.size(); ++i) {
      const auto& row = rows_[i];
      const auto likeliest =
          static_cast<std::int32_t>(std::max_element(row.begin(), row.end()) - row.begin());
      const double sure = std::exp(log_softmax(row, likeliest));
      if (!known[i] && sure > most) surest = i, most = sure;
    }
    exact[surest] = values[surest];
    steps[surest] = static_cast<std::int32_t>(step);
    known[surest] = true;
  }
  const auto scored = score(masked_form(ScoreForm::kPath, PathOrder::kDecoding));
  EXPECT_EQ(scored.step, steps);
  EXPECT_LE(rms(scored.log_probability, exact), 1e-4);
}

// What every loop is sure of when it writes an answer itself.
std::vector<MaskedCase> all_masked_cases() {
  std::vector<MaskedCase> out = {
      {"llada-f32", ""}, {"llada-bf16", ""}, {"dream-f32", ""}, {"dream-bf16", ""}};
  for (auto names : {testing::dense_family_cases(), testing::expert_cases()}) {
    for (const auto& name : names) {
      const auto config = read_config(testing::family_folder(name));
      if (!is_masked_diffusion(config.family) && !may_be_masked_diffusion(config.family)) continue;
      if (name.starts_with("a2d")) out.push_back({name, "mdlm"});
      if (name.starts_with("open-dcoder")) {
        out.push_back({name, "open_dcoder"});
        continue;
      }
      if (name.starts_with("qwen") || name.starts_with("mixtral")) continue;
      if (name.starts_with("a2d")) out.push_back({name, "bd3lm", true});
      out.push_back({name, name.starts_with("a2d") ? "bd3lm" : name.starts_with("llada2") ? "llada2" : ""});
    }
  }
  return out;
}
class DecodedScore : public MaskedScore {};
INSTANTIATE_TEST_SUITE_P(Families, DecodedScore, ::testing::ValuesIn(all_masked_cases()), masked_case_name);

TEST_P(DecodedScore, IsWhatTheModelWasSureOf) {
  decode_.max_new_tokens = 8;
  if (blocks()) decode_.max_new_tokens = 32;
  const auto machine = make_machine(model_, decode_, prompt_, std::nullopt);
  std::vector<double> confidence;
  decode::StepMachine* machines[] = {machine.get()};
  decode::drive({threads_}, model_, machines, [&](size_t, const auto&, const decode::StepRecord& record) {
    for (const auto& one : record.reveals) {
      const auto place = static_cast<std::size_t>(one.position) - prompt_.size();
      if (confidence.size() <= place) confidence.resize(place + 1);
      confidence[place] = one.confidence;
    }
  });
  // As far as it was decoded without the mask.
  Ids written(machine->generated().begin(), machine->generated().end());
  const auto first_mask = std::find(written.begin(), written.end(), mask());
  written.erase(first_mask, written.end());
  ASSERT_FALSE(written.empty());
  answer_ = written;
  const auto scored = score(masked_form(ScoreForm::kPath, PathOrder::kDecoding));
  if (std::ssize(written) != decode_.max_new_tokens && !blocks()) return;  // a canvas of another length
  // LLaDA2 takes another number of steps for another canvas.
  for (std::size_t i = 0; i < answer_.size() && !GetParam().name.starts_with("llada2"); ++i)
    EXPECT_EQ(scored.step[i], machine->revealed_at()[prompt_.size() + i]) << i;
  if (GetParam().rule == "bd3lm") {
    // This rule leaves the mask out, which has up to a twentieth in these networks: never less, hardly more.
    for (std::size_t i = 0; i < answer_.size(); ++i) {
      EXPECT_LE(scored.log_probability[i], std::log(confidence[i]) + 1e-5) << i;
      EXPECT_NEAR(scored.log_probability[i], std::log(confidence[i]), 0.06) << i;
    }
  }
  if (GetParam().name.starts_with("llada-")) {
    for (std::size_t i = 0; i < answer_.size(); ++i)
      EXPECT_NEAR(scored.log_probability[i], std::log(confidence[i]), 1e-4) << i;
  }
  for (const double value : scored.log_probability) EXPECT_TRUE(value <= 0 && std::isfinite(value));
}

TEST_P(DecodedScore, FormsAreNumbersOfTheirOwn) {
  const auto at_once = score(masked_form(ScoreForm::kOneShot)), path = score(masked_form(ScoreForm::kPath));
  ASSERT_EQ(at_once.log_probability.size(), answer_.size());
  // The first token of the path is told from the same canvas; what comes behind it is not.
  EXPECT_EQ(at_once.log_probability[0], path.log_probability[0]);
  EXPECT_NE(at_once.log_probability, path.log_probability);
}

// Row p - 1 tells of position p: other rows, other numbers.
TEST_P(DecodedScore, ShiftedRowsAreOthers) {
  if (!GetParam().shifted) return;
  for (const auto form : {ScoreForm::kOneShot, ScoreForm::kPath}) {
    const auto shifted = score(masked_form(form));
    decode_.shifted_rows = false;
    EXPECT_NE(score(masked_form(form)).log_probability, shifted.log_probability);
    decode_.shifted_rows = true;
  }
}

class ScoreRefusals : public ::testing::Test {
 protected:
  ScoreRefusals() : threads_(1) {}
  bool refuses(bool masked, const ScoreOptions& options, std::initializer_list<std::string> said,
               const Ids& answer = {3, 4, 5}) {
    model::Model model =
        model::Model::load(testing::data_folder() / "goldens" / (masked ? "llada-f32" : "qwen3-f32"));
    const Ids prompt = {1, 2};
    return fails_with<Error>([&] { score_tokens({threads_}, model, options, prompt, answer); }, said);
  }
  ThreadPool threads_;
};

TEST_F(ScoreRefusals, NameTheForm) {
  EXPECT_TRUE(refuses(true, {}, {"`form`", "one-shot", "path", "none"}));
  EXPECT_TRUE(refuses(false, masked_form(ScoreForm::kOneShot), {"`form`", "next tokens", "one-shot"}));
  auto warm = masked_form(ScoreForm::kPath);
  warm.decode.temperature = 0.5;
  EXPECT_TRUE(refuses(true, warm, {"`temperature`", "0.5"}));
  EXPECT_TRUE(fails_with<UsageError>([] { score_form_of("both"); }, {"`form`", "one-shot", "both"}));
  EXPECT_TRUE(
      fails_with<UsageError>([] { path_order_of("random"); }, {"`path_order`", "decoding", "random"}));
}

// What would change no number is not taken.
TEST_F(ScoreRefusals, NameWhatTheFormHasNoUseFor) {
  ScoreOptions plain;
  plain.slots = 4;
  EXPECT_TRUE(refuses(false, plain, {"`slots`", "none", "no canvas", "4"}));
  plain.slots = 0;
  plain.decode.top_k = 3;
  EXPECT_TRUE(refuses(false, plain, {"`top_k`", "none: nothing is decoded", "next-token"}));
  plain.decode.top_k.reset();
  plain.decode.steps = 2;
  EXPECT_TRUE(refuses(false, plain, {"`steps`", "a model it belongs to"}));
  for (const auto form : {ScoreForm::kOneShot, ScoreForm::kPath}) {
    auto options = masked_form(form);
    options.decode.steps = 2;
    EXPECT_TRUE(refuses(true, options, {"`steps`", "`form` path with `path_order` decoding"}));
    options.decode.steps.reset();
    options.decode.block_length = 2;
    EXPECT_TRUE(
        refuses(true, options, {"`block_length`", "nothing else decodes", std::string(name_of(form))}));
  }
  auto unguided = masked_form(ScoreForm::kOneShot);
  unguided.decode.cfg_scale = 0;
  EXPECT_NO_THROW(settled_form(read_config(testing::data_folder() / "goldens" / "llada-f32"), unguided));
  auto decoding = masked_form(ScoreForm::kPath, PathOrder::kDecoding);
  decoding.decode.steps = 2;
  EXPECT_NO_THROW(settled_form(read_config(testing::data_folder() / "goldens" / "llada-f32"), decoding));
}

TEST_F(ScoreRefusals, NameTheCanvas) {
  auto options = masked_form(ScoreForm::kOneShot);
  EXPECT_TRUE(refuses(true, options, {"answer", "at least one token"}, {}));
  EXPECT_TRUE(refuses(false, {}, {"answer", "at least one token"}, {}));
  options.slots = 2;
  EXPECT_TRUE(refuses(true, options, {"answer", "at most 2 tokens, the canvas", "3"}));
  options.slots = 0;
  const auto mask = read_config(testing::data_folder() / "goldens" / "llada-f32").mask_token;
  ASSERT_TRUE(mask);
  EXPECT_TRUE(refuses(true, options, {"answer", "other than the mask"}, {3, *mask}));
}

}  // namespace
}  // namespace buoy::run
