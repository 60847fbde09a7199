// Decoding on the GPU: what is chosen there is what the CPU chooses from the same logits, and where a plain
// bf16 run could not mistake one token for another the GPU finds the CPU's token.

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "buoy/decode/drive.h"
#include "buoy/decode/turn.h"
#include "buoy/ops/sampling/sampling.h"
#include "support/decode_case.h"
#include "support/golden.h"
#include "support/gpu.h"
#include "support/plain_bf16.h"

namespace buoy {
namespace {

class CudaDecoding : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { BUOY_NEEDS_GPU(); }
  std::filesystem::path folder() const { return testing::data_folder() / "goldens" / GetParam(); }

  // Root of the mean square of what a plain bf16 run of the tokens loses in the logits.
  double plain_loss(model::Model& cpu, const testing::PlainBf16& plain,
                    const std::vector<std::int32_t>& tokens) {
    std::vector<std::int32_t> rows(tokens.size());
    std::iota(rows.begin(), rows.end(), 0);
    const float* logits =
        cpu.forward(context_, std::vector<model::SequenceInput>{{tokens, rows, nullptr, {}}});
    const auto lossy = plain.forward(tokens);
    return testing::rms_difference(std::vector<double>(lossy.begin(), lossy.end()),
                                   std::vector<double>(logits, logits + lossy.size()));
  }

  ThreadPool threads_{2};
  Context context_{threads_};
};

// Two machines take the same steps, one by logits that were brought to the host, one by choices.
TEST_P(CudaDecoding, ChoicesAreThoseOfTheLogits) {
  model::Model model = model::Model::load(folder(), Device::kCuda);
  size_t on_the_gpu = 0;
  for (const auto& run : testing::read_decode_cases(folder())) {
    SCOPED_TRACE(run.name);
    const auto by_logits = testing::make_machine(model, run), by_choices = testing::make_machine(model, run);
    while (!by_logits->finished()) {
      const auto inputs = by_logits->next_forwards();
      const float* logits = model.forward(context_, inputs);
      std::vector<decode::LogitRows> rows;
      for (const auto& input : inputs) {
        rows.push_back({logits, model.config().vocabulary});
        logits += static_cast<std::int64_t>(input.logit_rows.size()) * model.config().vocabulary;
      }
      const auto expected = by_logits->advance(rows);
      const decode::Turn turn = decode::next_turn(*by_choices, 0);
      on_the_gpu += by_choices->choice_rules().has_value();
      const auto found = decode::take_turns(context_, model, std::span(&turn, 1), nullptr)[0];
      ASSERT_EQ(found.reveals.size(), expected.reveals.size());
      for (size_t i = 0; i < expected.reveals.size(); ++i) {
        EXPECT_EQ(found.reveals[i].position, expected.reveals[i].position);
        EXPECT_EQ(found.reveals[i].token, expected.reveals[i].token);
        EXPECT_NEAR(found.reveals[i].confidence, expected.reveals[i].confidence,
                    2e-6 * (1 + std::abs(expected.reveals[i].confidence)));
      }
    }
    EXPECT_EQ(by_choices->row(), by_logits->row());
  }
  EXPECT_GT(on_the_gpu, 0u);
}

// At every step of the CPU's greedy run the GPU proposes the CPU's token wherever the two best logits lie
// further apart than four times what a plain bf16 run loses.
TEST_P(CudaDecoding, GreedyTokensWhereTheMarginIsSafe) {
  model::Model cpu = model::Model::load(folder()), gpu = model::Model::load(folder(), Device::kCuda);
  const testing::PlainBf16 plain(folder());
  size_t compared = 0;
  for (const auto& run : testing::read_decode_cases(folder())) {
    const double safe = 4 * plain_loss(cpu, plain, run.row);
    const auto machine = testing::make_machine(cpu, run);
    while (!machine->finished()) {
      auto inputs = machine->next_forwards();
      std::vector<decode::LogitRows> rows;
      const float* logits = cpu.forward(context_, inputs);
      std::vector<std::int32_t> whole = machine->row();
      for (const auto& input : inputs) {
        rows.push_back({logits, cpu.config().vocabulary});
        logits += static_cast<std::int64_t>(input.logit_rows.size()) * cpu.config().vocabulary;
      }
      // The GPU sees the same row without a cache.
      const auto past = static_cast<std::int32_t>(machine->row().size() - inputs[0].tokens.size());
      std::vector<std::int32_t> wanted;
      for (const auto row : inputs[0].logit_rows) wanted.push_back(past + row);
      const std::vector<ops::ChoiceRule> rules(wanted.size());
      const auto choices =
          gpu.choose(context_, std::vector<model::SequenceInput>{{whole, wanted, nullptr, {}}}, rules);
      for (size_t i = 0; i < wanted.size(); ++i) {
        std::vector<float> row(rows[0].row(i).begin(), rows[0].row(i).end());
        const size_t best = ops::argmax(std::span<const float>(row));
        const float largest = row[best];
        row[best] = -std::numeric_limits<float>::infinity();
        if (largest - row[ops::argmax(std::span<const float>(row))] <= safe) continue;
        EXPECT_EQ(choices[i].token, static_cast<std::int32_t>(best));
        ++compared;
      }
      machine->advance(rows);
    }
  }
  EXPECT_GT(compared, 20u);
}

INSTANTIATE_TEST_SUITE_P(Goldens, CudaDecoding, ::testing::ValuesIn(testing::golden_cases()),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace buoy
