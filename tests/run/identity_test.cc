// What of a request is stored: another spelling would make every stored run another one.

#include "buoy/run/identity.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "buoy/base/file/json_file.h"

namespace buoy::run {
namespace {

TEST(Identity, OfDecodingHoldsWhatIsGivenUnderTheKeysOfTheTable) {
  EXPECT_EQ(dump_json(describe_decoding({})), R"({"max_new_tokens":128,"temperature":0.0})");
  DecodeOptions o;
  o.max_new_tokens = 8, o.seed = 7, o.temperature = 0.5, o.allow_long = true;
  o.steps = 4, o.block_length = 2, o.algorithm = "random", o.alg_temp = 0.1, o.eps = 0.01, o.cfg_scale = 2;
  o.logits_eos_inf = o.confidence_eos_eot_inf = true;
  o.top_p = 0.9, o.top_k = 3, o.repetition_penalty = 1.1;
  o.mask_token = 5, o.eos_tokens = {1, 2}, o.eot_token = 6;
  EXPECT_EQ(dump_json(describe_decoding(o)),
            R"({"alg_temp":0.1,"algorithm":"random","allow_long":true,"block_length":2,"cfg_scale":2.0,)"
            R"("confidence_eos_eot_inf":true,"eos_tokens":[1,2],"eot_token":6,"eps":0.01,)"
            R"("logits_eos_inf":true,"mask_token":5,"max_new_tokens":8,"repetition_penalty":1.1,)"
            R"("steps":4,"temperature":0.5,"top_k":3,"top_p":0.9})");
}

TEST(Identity, OfBlockDecoding) {
  DecodeOptions o;
  o.decoding_rule = "bd3lm", o.steps_per_block = 3, o.sub_block_length = 8, o.threshold = 0.9;
  o.schedule = "dllm", o.shifted_rows = o.block_cache = true;
  EXPECT_EQ(
      dump_json(describe_decoding(o)),
      R"({"block_cache":true,"decoding_rule":"bd3lm","max_new_tokens":128,"schedule":"dllm",)"
      R"("shifted_rows":true,"steps_per_block":3,"sub_block_length":8,"temperature":0.0,"threshold":0.9})");
}

TEST(Identity, OfWhatIsObserved) {
  Request request;
  request.observe = "entropy,received";
  request.prompt_template = "somewhere/a.prompt";
  request.arrangement.passages = 3;
  EXPECT_EQ(dump_json(describe_observed(request, Device::kCpu, "sum")),
            R"({"chat":false,"final_row":true,"gold_position":0,"groups":"state","layers":"",)"
            R"("observe":["received","entropy"],"passages":3,"prompts_sha256":"sum","steps":"",)"
            R"("template":"a.prompt"})");
  EvaluationSpec spec;
  spec.observe = "received";
  EXPECT_EQ(dump_json(describe_observed(spec, Condition{})),
            R"({"condition":{"name":"passages"},"groups":"regions","observe":"received"})");
}

}  // namespace
}  // namespace buoy::run
