// Steps chosen by hand: what may be written and what not, taking back, copies that go their own way, and
// going back; and that none of it changes what a loop does that is left alone.
#include <gtest/gtest.h>

#include <memory>

#include "buoy/base/error.h"
#include "buoy/decode/autoregressive.h"
#include "buoy/decode/dream.h"
#include "buoy/decode/drive.h"
#include "buoy/decode/llada.h"
#include "buoy/decode/turn.h"
#include "support/decode_case.h"
#include "support/fails_with.h"
#include "support/golden.h"

namespace buoy::decode {
namespace {

using testing::fails_with;

constexpr std::int32_t kMask = 30;
const std::vector<std::int32_t> kPrompt = {5, 6, 7};

template <typename Machine, typename Options>
Machine masked_machine(std::int32_t tokens) {
  Options options;
  options.max_new_tokens = options.steps = tokens;
  if constexpr (std::is_same_v<Machine, LladaMachine>) options.block_length = tokens;
  options.mask_token = kMask;
  return Machine(kPrompt, options);
}

void expect_edits(StepMachine& machine) {
  machine.next_forwards();
  EXPECT_EQ(machine.open_positions(), (std::vector<std::int32_t>{3, 4, 5, 6}));
  const std::vector<Edit> first = {{4, 11, 0.5}, {6, 12, 0.25}};
  const auto record = machine.advance_edited(first);
  EXPECT_EQ(record.step, 0);
  ASSERT_EQ(record.reveals.size(), 2u);
  EXPECT_EQ(record.reveals[1].position, 6);
  EXPECT_EQ(record.reveals[1].confidence, 0.25);
  EXPECT_EQ(machine.row(), (std::vector<std::int32_t>{5, 6, 7, kMask, 11, kMask, 12}));
  EXPECT_EQ(machine.step(), 1);

  const auto copy = machine.clone();
  const std::vector<Edit> back = {{4, kMaskAgain}};
  machine.next_forwards();
  EXPECT_TRUE(machine.advance_edited(back).reveals.empty());
  EXPECT_EQ(machine.row(), (std::vector<std::int32_t>{5, 6, 7, kMask, kMask, kMask, 12}));
  EXPECT_EQ(machine.revealed_at(), (std::vector<std::int32_t>{-1, -1, -1, -1, -1, -1, 0}));
  EXPECT_EQ(copy->row(), (std::vector<std::int32_t>{5, 6, 7, kMask, 11, kMask, 12}));
  EXPECT_EQ(copy->step(), 1);

  for (const Edit wrong : {Edit{0, 11}, Edit{7, 11}, Edit{-1, 11}, Edit{4, -2}}) {
    const auto before = machine.row();
    EXPECT_TRUE(fails_with<UsageError>([&] { machine.advance_edited({&wrong, 1}); }, {"expected"}));
    EXPECT_EQ(machine.row(), before);
    EXPECT_EQ(machine.step(), 2);
  }
}

TEST(EditedSteps, OfLlada) {
  auto machine = masked_machine<LladaMachine, LladaOptions>(4);
  expect_edits(machine);
}

TEST(EditedSteps, OfDream) {
  auto machine = masked_machine<DreamMachine, DreamOptions>(4);
  expect_edits(machine);
}

// All golden cases of every family: copies made after every step, and the loop gone back to once, end as the
// loop does that runs by itself.
TEST(EditedSteps, CopiesAndRewoundLoopsEndAlike) {
  ThreadPool threads(1);
  const Context context{threads};
  std::size_t cases = 0;
  for (const char* name : {"llada-f32", "dream-f32", "llama3-f32", "qwen2-f32", "qwen3-f32"}) {
    const auto folder = testing::data_folder() / "goldens" / name;
    auto model = model::Model::load(folder);
    for (const auto& run : testing::read_decode_cases(folder)) {
      const auto machine = testing::make_machine(model, run);
      std::vector<std::unique_ptr<StepMachine>> copies;
      const auto step = [&](StepMachine& one) {
        std::vector<Turn> turns;
        turns.push_back(next_turn(one, 0));
        take_turns(context, model, turns, nullptr);
      };
      while (!machine->finished()) {
        copies.push_back(machine->clone());
        step(*machine);
      }
      EXPECT_EQ(machine->row(), run.row) << name << " " << run.name;
      for (const auto& copy : copies) {
        while (!copy->finished()) step(*copy);
        EXPECT_EQ(copy->row(), run.row) << name << " " << run.name;
        EXPECT_EQ(copy->revealed_at(), machine->revealed_at()) << name << " " << run.name;
      }
      if (auto* written = dynamic_cast<AutoregressiveMachine*>(machine.get())) {
        written->rewind(1);
        while (!written->finished()) step(*written);
        EXPECT_EQ(written->row(), run.row) << name << " " << run.name;
      }
      ++cases;
    }
  }
  EXPECT_GT(cases, 10u);
}

TEST(EditedSteps, OfAnAutoregressiveRow) {
  const auto folder = testing::data_folder() / "goldens" / "llama3-f32";
  auto model = model::Model::load(folder);
  AutoregressiveOptions options;
  options.max_new_tokens = 4;
  options.eos_tokens = {9};
  AutoregressiveMachine machine(kPrompt, options, model.new_cache());
  machine.next_forwards();
  EXPECT_EQ(machine.open_positions(), (std::vector<std::int32_t>{3}));
  const Edit next{3, 8, 0.5}, elsewhere{4, 8}, prompt{1, kMaskAgain}, last{3, kMaskAgain}, end{3, 9};
  machine.advance_edited({&next, 1});
  EXPECT_EQ(machine.row(), (std::vector<std::int32_t>{5, 6, 7, 8}));
  for (const Edit& wrong : {next, prompt})
    EXPECT_TRUE(fails_with<UsageError>([&] { machine.advance_edited({&wrong, 1}); }, {"position"}));
  EXPECT_TRUE(fails_with<UsageError>([&] { machine.advance_edited({}); }, {"edits"}));
  machine.advance_edited({&last, 1});
  EXPECT_EQ(machine.row(), kPrompt);
  EXPECT_TRUE(fails_with<UsageError>([&] { machine.advance_edited({&elsewhere, 1}); }, {"position"}));
  machine.advance_edited({&end, 1});
  EXPECT_TRUE(machine.finished());
}

}  // namespace
}  // namespace buoy::decode
