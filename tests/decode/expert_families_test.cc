// Loops of earlier families over bodies of experts: every run of tools/goldens/FAMILIES.md.

#include <gtest/gtest.h>

#include <memory>

#include "buoy/base/error.h"
#include "buoy/decode/autoregressive.h"
#include "buoy/decode/drive.h"
#include "buoy/decode/llada.h"
#include "support/fails_with.h"
#include "support/family_case.h"

namespace buoy {
namespace {

using namespace testing;
using Ids = std::vector<std::int32_t>;
using Triples = std::vector<std::array<std::int32_t, 3>>;

std::unique_ptr<decode::StepMachine> machine_for(const model::Model& model, const Json& run) {
  const Json& given = run.at("options");
  decode::DecodeOptions o;
  o.max_new_tokens = given.at("max_new_tokens");
  o.seed = given.at("seed");
  o.temperature = given.at("temperature");
  const Ids prompt = run.at("prompt_ids");
  if (run.at("loop") == "mdlm") {
    o.mask_token = given.at("mask_token_id");
    o.block_length = given.at("block_length");
    o.steps = given.at("steps");
    o.cfg_scale = given.at("cfg_scale").get<double>();
    decode::check_options(model.config(), o);
    return std::make_unique<decode::LladaMachine>(prompt, decode::llada_options(o));
  }
  if (given.at("top_k") != 0) o.top_k = given.at("top_k");
  o.top_p = given.at("top_p");
  o.eos_tokens = given.at("stop_token_ids").get<Ids>();
  decode::check_options(model.config(), o);
  return std::make_unique<decode::AutoregressiveMachine>(prompt, decode::autoregressive_options(o),
                                                         model.new_cache());
}

class ExpertDecoding : public ::testing::TestWithParam<std::string> {
 protected:
  ThreadPool threads_{2};
};

TEST_P(ExpertDecoding, IdsAndReveals) {
  model::Model model = model::Model::load(family_folder(GetParam()));
  const Json runs = read_family_runs(GetParam());
  ASSERT_FALSE(runs.empty());
  for (const Json& run : runs) {
    SCOPED_TRACE(run.at("name").get<std::string>());
    const auto machine = machine_for(model, run);
    Triples reveals;
    decode::StepMachine* machines[] = {machine.get()};
    decode::drive({threads_}, model, machines,
                  [&](size_t, const decode::StepMachine&, const decode::StepRecord& record) {
                    for (const auto& one : record.reveals)
                      reveals.push_back({record.step, one.position, one.token});
                  });
    EXPECT_EQ(Ids(machine->generated().begin(), machine->generated().end()), run.at("ids").get<Ids>());
    EXPECT_EQ(machine->row(), run.at("row").get<Ids>());
    auto expected = run.at("reveals").get<Triples>();
    std::sort(expected.begin(), expected.end());  // within a step, ours come by position
    EXPECT_EQ(reveals, expected);
  }
}

TEST_P(ExpertDecoding, PackedTogetherEqualsAlone) {
  model::Model model = model::Model::load(family_folder(GetParam()));
  const Json runs = read_family_runs(GetParam());
  std::vector<std::unique_ptr<decode::StepMachine>> owned;
  std::vector<decode::StepMachine*> machines;
  for (const Json& run : runs) machines.push_back(owned.emplace_back(machine_for(model, run)).get());
  decode::drive({threads_}, model, machines, nullptr);
  for (size_t n = 0; n < runs.size(); ++n)
    EXPECT_EQ(machines[n]->row(), runs[n].at("row").get<Ids>()) << runs[n].at("name");
}

INSTANTIATE_TEST_SUITE_P(Families, ExpertDecoding,
                         ::testing::Values("qwen3-moe-f32", "qwen3-moe-bf16", "mixtral-f32", "llada-moe-f32"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace buoy
