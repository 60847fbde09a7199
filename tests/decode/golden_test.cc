// Every decoding option of every family gives the ids and the reveal steps of tools/goldens, an
// independent implementation of the loops.

#include <gtest/gtest.h>

#include <memory>

#include "buoy/base/file/json_file.h"
#include "buoy/decode/drive.h"
#include "support/decode_case.h"
#include "support/golden.h"

namespace buoy {
namespace {

class GoldenDecoding : public ::testing::TestWithParam<std::string> {};

TEST_P(GoldenDecoding, IdsAndRevealSteps) {
  const auto folder = testing::data_folder() / "goldens" / GetParam();
  ThreadPool threads(2);
  const Context context{threads};
  model::Model model = model::Model::load(folder);
  const auto cases = testing::read_decode_cases(folder);
  ASSERT_GE(cases.size(), 2u);
  for (const auto& expected : cases) {
    SCOPED_TRACE(expected.name);
    const auto machine = testing::make_machine(model, expected);
    decode::StepMachine* machines[] = {machine.get()};
    decode::drive(context, model, machines, nullptr);
    EXPECT_EQ(machine->row(), expected.row);
    const auto& steps = machine->revealed_at();
    EXPECT_EQ(std::vector<std::int32_t>(steps.begin() + machine->prompt_length(), steps.end()),
              expected.revealed_at);
  }
}

TEST_P(GoldenDecoding, PackedTogetherEqualsAlone) {
  const auto folder = testing::data_folder() / "goldens" / GetParam();
  ThreadPool threads(2);
  const Context context{threads};
  model::Model model = model::Model::load(folder);
  const auto cases = testing::read_decode_cases(folder);
  std::vector<std::unique_ptr<decode::StepMachine>> owned;
  std::vector<decode::StepMachine*> machines;
  for (const auto& expected : cases) {
    owned.push_back(testing::make_machine(model, expected));
    machines.push_back(owned.back().get());
  }
  decode::drive(context, model, machines, nullptr);
  for (size_t n = 0; n < cases.size(); ++n) EXPECT_EQ(machines[n]->row(), cases[n].row) << cases[n].name;
}

INSTANTIATE_TEST_SUITE_P(Goldens, GoldenDecoding, ::testing::ValuesIn(testing::golden_cases()),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace buoy
