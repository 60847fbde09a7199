// Every run of the block diffusion families of tools/goldens/FAMILIES.md: ids, rows, reveals in their order
// with their steps, and the forwards that a cached and a recomputed run take. Options are given as
// DecodeOptions.

#include <gtest/gtest.h>

#include <memory>

#include "buoy/decode/autoregressive.h"
#include "buoy/decode/block_families.h"
#include "buoy/decode/dream.h"
#include "buoy/decode/drive.h"
#include "buoy/decode/llada.h"
#include "buoy/decode/rnd1.h"
#include "buoy/decode/turn.h"
#include "support/family_case.h"

namespace buoy {
namespace {

using namespace testing;
using decode::DecodeOptions;
using decode::StepKind;
using Ids = std::vector<std::int32_t>;
using Triples = std::vector<std::array<std::int32_t, 3>>;

DecodeOptions options_of(Family family, const Json& run) {
  const Json& given = run.at("options");
  const std::string loop = run.at("loop");
  DecodeOptions o;
  o.max_new_tokens = given.at("max_new_tokens");
  o.seed = given.at("seed");
  o.temperature = given.at("temperature");
  const auto set = [&](const char* key, auto& option) {
    if (given.contains(key) && !given.at(key).is_null()) option = given.at(key);
  };
  if (loop != "autoregressive") o.mask_token = given.at("mask_token_id");
  set("block_length", o.block_length);
  if (given.contains("stop_token_ids")) o.eos_tokens = given.at("stop_token_ids").get<Ids>();
  if (given.contains("eos_token_id")) o.eos_tokens = {given.at("eos_token_id").get<std::int32_t>()};
  if (loop == "autoregressive" || loop == "nemotron") {
    o.decoding_rule = loop == "nemotron" ? "diffusion" : loop;
    set("steps_per_block", o.steps_per_block);
    set("threshold", o.threshold);
    o.bidirectional_context = !given.value("causal_context", true);
    if (given.value("top_k", 0) != 0) o.top_k = given.at("top_k");
    set("top_p", o.top_p);
  } else if (loop == "llada2" || loop == "llada21") {
    o.decoding_rule = loop;
    set("steps", o.steps_per_block);
    set("minimal_topk", o.minimal_topk);
    set("threshold", o.threshold);
    set("editing_threshold", o.editing_threshold);
    set("max_post_steps", o.max_post_steps);
    set("num_to_transfer", o.num_to_transfer);
    set("repeat_penalty", o.repeat_penalty);
    set("top_k", o.top_k);
    set("top_p", o.top_p);
    o.eos_early_stop = given.at("eos_early_stop");
  } else if (loop == "open_dcoder") {
    o.decoding_rule = loop;
    o.steps = given.at("steps");
    o.algorithm = given.at("algorithm");
    set("top_k", o.top_k);
    set("top_p", o.top_p);
    set("alg_temp", o.alg_temp);
    set("eps", o.eps);
  } else if (loop == "rnd1") {
    o.steps = given.at("steps");
    if (given.at("greedy")) {
      o.temperature = 0;
      set("temperature", o.entropy_temperature);
    }
    if (given.at("top_k") != 0) o.top_k = given.at("top_k");
    set("top_p", o.top_p);
    set("entropy_bound", o.entropy_bound);
  } else if (loop == "mdlm" || loop == "bd3lm") {
    if (is_a2d(family)) o.decoding_rule = loop;
    o.steps = given.at("steps");
    o.cfg_scale = given.at("cfg_scale").get<double>();
    o.schedule = given.at("schedule");
    if (given.contains("remasking")) o.algorithm = given.at("remasking");
    o.shifted_rows = given.value("right_shift", false);
  } else if (loop == "sdar") {
    o.steps_per_block = given.at("denoising_steps");
    const std::string order = given.at("remasking");
    o.algorithm = order == "sequential" ? order : "low_confidence_" + order;
    o.threshold = given.at("threshold");
    if (given.at("top_k") != 0) o.top_k = given.at("top_k");
    o.top_p = given.at("top_p");
  } else {
    o.sub_block_length = given.at("small_block_length");
    o.threshold = given.at("threshold");
    o.top_p = given.at("top_p");
    o.block_cache = given.at("use_block_cache");
  }
  return o;
}

std::unique_ptr<decode::StepMachine> machine_of(const model::Model& model, const Json& run, bool cached) {
  const DecodeOptions options = options_of(model.config().family, run);
  decode::check_options(model.config(), options);
  const Ids prompt = run.at("prompt_ids");
  switch (decode::loop_of(model.config(), options)) {
    case decode::kLlada:
      return std::make_unique<decode::LladaMachine>(prompt, decode::llada_options(options));
    case decode::kOpenDcoder:
      return std::make_unique<decode::DreamMachine>(prompt, decode::open_dcoder_options(options));
    case decode::kRnd1:
      return std::make_unique<decode::Rnd1Machine>(prompt, decode::rnd1_options(options));
    case decode::kAutoregressive:
      return std::make_unique<decode::AutoregressiveMachine>(prompt, decode::autoregressive_options(options),
                                                             model.new_cache());
    default:
      break;
  }
  auto block = decode::block_options(model.config(), options);
  block.cached = cached;
  return std::make_unique<decode::BlockMachine>(prompt, block, model.new_cache());
}

// What happened in a run.
struct Happened {
  Triples reveals, seeds;
  std::vector<std::array<std::int32_t, 2>> hidden_again;
  std::int32_t denoised = 0, stored_on_the_way = 0;
  std::vector<StepKind> kinds;
  std::vector<std::array<std::int64_t, 2>> rows;  // the first that each forward ran, and where they end
  std::vector<double> confidences;                // to the bit
};

Happened drive(const Context& context, model::Model& model, decode::StepMachine& machine) {
  Happened out;
  while (!machine.finished()) {
    const decode::Turn turn = decode::next_turn(machine, 0);
    const std::int32_t number = machine.forward();
    const auto note_rows = [&](const model::SequenceInput& input) {
      out.rows.push_back({input.past(), input.past() + input.rows()});
    };
    note_rows(turn.forwards.front());
    const bool stores = turn.forwards.back().behind > 0;
    if (stores) {
      note_rows(turn.forwards.back());
      out.kinds.push_back(StepKind::kFinish);
      ++out.stored_on_the_way;
    }
    const auto r = decode::take_turns(context, model, {&turn, 1}, nullptr).front();
    EXPECT_EQ(machine.forward(), number + (stores ? 2 : 1));
    const bool denoised = r.kind == StepKind::kDenoise;
    out.denoised += denoised;
    out.kinds.push_back(r.kind);
    for (const auto& one : r.reveals) {
      (denoised ? out.reveals : out.seeds).push_back({r.step, one.position, one.token});
      out.confidences.push_back(one.confidence);
    }
    for (const auto position : r.hidden_again) out.hidden_again.push_back({r.step, position});
  }
  return out;
}

std::vector<StepKind> kinds_of(const Json& forwards) {
  std::vector<StepKind> kinds;
  for (const Json& forward : forwards) {
    const std::string kind = forward.at(0);
    kinds.push_back(kind == "denoise"   ? StepKind::kDenoise
                    : kind == "prefill" ? StepKind::kPrefill
                                        : StepKind::kFinish);
  }
  return kinds;
}

std::vector<std::array<std::int64_t, 2>> rows_of(const Json& forwards) {
  std::vector<std::array<std::int64_t, 2>> rows;
  for (const Json& forward : forwards) rows.push_back({forward.at(1), forward.at(2)});
  return rows;
}

std::vector<std::array<std::int32_t, 2>> hidden_again_of(const Json& run) {
  auto out = run.value("hidden_again", Json::array()).get<std::vector<std::array<std::int32_t, 2>>>();
  std::sort(out.begin(), out.end());
  return out;
}

class FamilyDecoding : public ::testing::TestWithParam<std::string> {
 protected:
  ThreadPool threads_{2};
  Context context_{threads_};
};

TEST_P(FamilyDecoding, IdsRevealsAndForwards) {
  const Json runs = read_family_runs(GetParam());
  ASSERT_FALSE(runs.empty());
  for (const Json& run : runs) {
    const ChangedFamily changed(GetParam(), run.value("config", Json::object()));
    model::Model model = model::Model::load(changed.folder());
    std::optional<Happened> recomputed;
    for (const char* way : {"recomputed", "cached", "cached, stored apart"}) {
      SCOPED_TRACE(run.at("name").get<std::string>() + ", " + way);
      const bool cached = way[0] == 'c';
      if (!cached && run.at("options").value("use_block_cache", false)) continue;  // has no exact counterpart
      const auto machine = machine_of(model, run, cached);
      const bool apart = std::string(way) == "cached, stored apart";
      if (apart) machine->store_apart();
      const Happened happened = drive(context_, model, *machine);
      // Finished blocks share a pass unless somebody needs what their last row says, or wants them apart.
      const std::string by = run.at("loop");
      const auto blocks = std::count(happened.kinds.begin(), happened.kinds.end(), StepKind::kFinish);
      const bool shares = by == "sdar" || by == "llada2" || by == "llada21" ||
                          (by == "nemotron" && !run.at("options").value("causal_context", true)) ||
                          (by == "bd3lm" && !run.at("options").value("right_shift", false) &&
                           run.at("options").at("cfg_scale").get<double>() == 0);
      EXPECT_EQ(happened.stored_on_the_way, cached && !apart && shares ? blocks : 0);
      EXPECT_EQ(machine->row(), run.at("row").get<Ids>());
      EXPECT_EQ(Ids(machine->generated().begin(), machine->generated().end()), run.at("ids").get<Ids>());
      EXPECT_EQ(Ids(machine->revealed_at().begin() + machine->prompt_length(), machine->revealed_at().end()),
                run.at("revealed_at").get<Ids>());
      // Within a step the goldens list reveals by confidence, we by position.
      auto expected = run.at("reveals").get<Triples>();
      std::sort(expected.begin(), expected.end());
      EXPECT_EQ(happened.reveals, expected);
      EXPECT_EQ(happened.seeds, run.at("seeds").get<Triples>());
      EXPECT_EQ(happened.denoised, run.at("denoise_forwards").get<std::int32_t>());
      const char* which = cached ? "cached" : "recomputed";
      EXPECT_EQ(happened.hidden_again, hidden_again_of(run));
      if (run.at("forwards").contains(which)) {
        Json forwards = run.at("forwards").at(which);
        // SDAR and Nemotron as published store their last block, which nobody reads.
        const std::string loop = run.at("loop");
        if (loop == "nemotron" || (cached && loop == "sdar"))
          if (kinds_of(forwards).back() == StepKind::kFinish) forwards.erase(forwards.size() - 1);
        EXPECT_EQ(happened.kinds, kinds_of(forwards));
        if (cached) {
          EXPECT_EQ(happened.rows, rows_of(forwards));
        }
      }
      if (!cached) recomputed = happened;
      if (cached && recomputed) {
        EXPECT_EQ(happened.confidences, recomputed->confidences);
      }
    }
  }
}

TEST_P(FamilyDecoding, PackedTogetherEqualsAlone) {
  const Json runs = read_family_runs(GetParam());
  model::Model model = model::Model::load(family_folder(GetParam()));
  std::vector<std::unique_ptr<decode::StepMachine>> owned;
  std::vector<decode::StepMachine*> machines;
  std::vector<Json> rows;
  for (const Json& run : runs) {
    if (run.contains("config")) continue;  // another checkpoint
    owned.push_back(machine_of(model, run, true));
    machines.push_back(owned.back().get());
    rows.push_back(run);
  }
  decode::drive(context_, model, machines, nullptr);
  for (size_t n = 0; n < rows.size(); ++n)
    EXPECT_EQ(machines[n]->row(), rows[n].at("row").get<Ids>()) << rows[n].at("name");
}

// docs/models.md has them in a table.
TEST(FamilyDefaults, AreThoseOfThePublishers) {
  DecodeOptions given;
  given.mask_token = 5;
  ModelConfig config;
  config.family = Family::kSdar;
  config.block_length = 4;
  const auto sdar = decode::block_options(config, given);
  EXPECT_EQ(sdar.order, decode::BlockOrder::kThreshold);
  EXPECT_EQ(sdar.threshold, 0.85);
  EXPECT_EQ(sdar.schedule.steps, 4);
  EXPECT_EQ(sdar.temperature, 0) << "the script has 1; Buoy decodes greedily unless told";
  EXPECT_FALSE(sdar.top_k || sdar.top_p);
  config.family = Family::kFastDllm;
  config.block_length = 32;
  const auto fast = decode::block_options(config, given);
  EXPECT_EQ(fast.threshold, 0.9);
  EXPECT_EQ(fast.sub_block_length, 8);
  EXPECT_EQ(fast.top_p, 0.95);
  config.family = Family::kA2dQwen3;
  config.block_length.reset();
  given.decoding_rule = "bd3lm";
  const auto bd3lm = decode::block_options(config, given);
  EXPECT_EQ(bd3lm.block_length, 32);
  EXPECT_EQ(bd3lm.schedule.steps, 32) << "128 tokens in 4 blocks";
  EXPECT_EQ(bd3lm.schedule.rule, decode::BlockSchedule::Rule::kQuota);
}

INSTANTIATE_TEST_SUITE_P(Families, FamilyDecoding, ::testing::ValuesIn(decoding_cases()),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace buoy
