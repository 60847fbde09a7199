// Decoding of models whose config states another mask than their family has.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>

#include "buoy/decode/autoregressive.h"
#include "buoy/decode/drive.h"
#include "buoy/decode/llada.h"
#include "buoy/ops/sampling/sampling.h"
#include "support/temp_folder.h"
#include "support/tiny_checkpoint.h"

namespace buoy {
namespace {

using Ids = std::vector<std::int32_t>;

class StatedMask : public ::testing::Test {
 protected:
  static model::Model tiny(Family family, const char* mask) {
    const testing::TempFolder folder;
    testing::TinyCheckpoint checkpoint(family);
    checkpoint.config["attention_mask_kind"] = mask;
    checkpoint.write(folder.path());
    return model::Model::load(folder.path());
  }
  // Of the last row, without a cache.
  std::vector<float> logits_at_end(model::Model& model, const Ids& row, std::int64_t prefix) {
    const Ids last = {static_cast<std::int32_t>(row.size()) - 1};
    const std::vector<model::SequenceInput> inputs = {{row, last, nullptr, {}, prefix}};
    const float* logits = model.forward({threads_}, inputs);
    return {logits, logits + model.config().vocabulary};
  }
  ThreadPool threads_{2};
};

TEST_F(StatedMask, APrefixIsThePromptOfEachSequence) {
  model::Model model = tiny(Family::kLlama, "prefix"), causal = tiny(Family::kLlama, "causal");
  const std::vector<Ids> prompts = {{3, 14, 15, 9, 26, 5}, {2, 7, 18}};
  decode::AutoregressiveOptions options;
  options.max_new_tokens = 6;
  const auto decoded = [&](model::Model& of) {
    decode::AutoregressiveMachine first(prompts[0], options, of.new_cache()),
        second(prompts[1], options, of.new_cache());
    decode::StepMachine* const machines[] = {&first, &second};
    decode::drive({threads_}, of, machines, nullptr, nullptr);
    return std::vector<Ids>{first.row(), second.row()};
  };
  const auto rows = decoded(model);
  for (size_t n = 0; n < rows.size(); ++n) {
    Ids row = prompts[n];
    const auto prefix = static_cast<std::int64_t>(row.size());
    while (row.size() < prompts[n].size() + 6) {
      const auto logits = logits_at_end(model, row, prefix);
      row.push_back(
          static_cast<std::int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin()));
    }
    EXPECT_EQ(rows[n], row);
  }
  EXPECT_NE(rows, decoded(causal));  // else the mask would not matter to this test
}

// All slots at once: under a causal mask a slot is filled as if nothing stood behind it.
TEST_F(StatedMask, CausalMaskedTokensAreFilledByWhatStandsBeforeThem) {
  model::Model model = tiny(Family::kLlada, "causal"), full = tiny(Family::kLlada, "full");
  const Ids prompt = {3, 14, 15, 9, 26};
  const std::int32_t mask = *model.config().mask_token;
  decode::LladaOptions options;
  options.max_new_tokens = options.block_length = 5;
  options.steps = 1;
  options.mask_token = mask;
  // By position: the token and the confidence it was chosen with.
  using Filled = std::map<std::int32_t, std::pair<std::int32_t, double>>;
  const auto decoded = [&](model::Model& of) {
    decode::LladaMachine machine(prompt, options);
    decode::StepMachine* const machines[] = {&machine};
    Filled filled;
    decode::drive(
        {threads_}, of, machines,
        [&](size_t, const decode::StepMachine&, const decode::StepRecord& record) {
          for (const auto& one : record.reveals) filled[one.position] = {one.token, one.confidence};
        },
        nullptr);
    return filled;
  };
  Filled expected;
  Ids row = prompt;
  for (int slot = 0; slot < 5; ++slot) {
    row.push_back(mask);
    const auto logits = logits_at_end(model, row, 0);
    const auto best = std::max_element(logits.begin(), logits.end());
    expected[static_cast<std::int32_t>(row.size()) - 1] = {static_cast<std::int32_t>(best - logits.begin()),
                                                           std::exp(*best - ops::log_sum_exp(logits))};
  }
  EXPECT_EQ(decoded(model), expected);
  EXPECT_NE(decoded(full), expected);
}

}  // namespace
}  // namespace buoy
