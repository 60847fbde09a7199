#include "buoy/decode/block_families.h"

#include <fmt/format.h>

#include <algorithm>

#include "buoy/base/error.h"
#include "buoy/base/field_name.h"

namespace buoy::decode {
namespace {

constexpr std::int32_t kDllmBlock = 32, kFastSubBlock = 8;
constexpr double kSdarThreshold = 0.85, kFastThreshold = 0.9, kFastTopP = 0.95, kLlada2Threshold = 0.95;

std::int32_t block_length(const ModelConfig& config, const DecodeOptions& o) {
  const auto known = static_cast<std::int32_t>(config.block_length.value_or(kDllmBlock));
  if (o.block_length && config.states_block_length && *o.block_length != known) {
    throw_usage_error(
        {field_name("block_length"),
         fmt::format("{}, the block length of config.json, for which the model was trained", known),
         std::to_string(*o.block_length)});
  }
  return o.block_length.value_or(known);
}

BlockOptions common(const ModelConfig& config, const DecodeOptions& o) {
  BlockOptions out;
  out.max_new_tokens = o.max_new_tokens;
  out.block_length = out.sub_block_length = block_length(config, o);
  out.temperature = o.temperature;
  out.cfg_scale = o.cfg_scale.value_or(0);
  out.top_k = o.top_k;
  out.top_p = o.top_p;
  out.mask_token = o.mask_token.value();
  out.stop_tokens = o.eos_tokens;
  out.seed = o.seed;
  return out;
}

[[noreturn]] void refuse_algorithm(const char* known, const std::string& name) {
  throw_usage_error({field_name("algorithm"), std::string("one of ") + known, '"' + name + '"'});
}

// dllm's sampler: the grid ends at the prompt's end, noise on the choice, stop after a block.
BlockOptions bd3lm(const ModelConfig& config, const DecodeOptions& o) {
  BlockOptions out = common(config, o);
  out.origin = GridOrigin::kPromptEnd;
  out.shifted_rows = o.shifted_rows;
  const std::string order = o.algorithm.value_or("low_confidence");
  if (order != "low_confidence" && order != "random") refuse_algorithm("low_confidence, random", order);
  out.order = order == "random" ? BlockOrder::kRandom : BlockOrder::kConfidence;
  const std::int32_t blocks = (o.max_new_tokens + out.block_length - 1) / out.block_length,
                     steps = o.steps.value_or(o.max_new_tokens);
  out.schedule.steps = (steps + blocks - 1) / blocks;
  if (wants_dllm_schedule(o)) out.schedule.rule = BlockSchedule::Rule::kDllm;
  return out;
}

// The publisher's script, with greedy as argmax and its own probability.
BlockOptions sdar(const ModelConfig& config, const DecodeOptions& o) {
  BlockOptions out = common(config, o);
  out.draw = BlockDraw::kProportional;
  const std::string order = o.algorithm.value_or("low_confidence_dynamic");
  if (order == "low_confidence_dynamic") {
    out.order = BlockOrder::kThreshold;
  } else if (order == "sequential") {
    out.order = BlockOrder::kLeftToRight;
  } else if (order != "low_confidence_static") {
    refuse_algorithm("low_confidence_dynamic, low_confidence_static, sequential", order);
  }
  out.threshold = o.threshold.value_or(kSdarThreshold);
  out.schedule.steps = o.steps_per_block.value_or(out.block_length);
  out.schedule.over_whole_block = true;
  return out;
}

// Sub-blocks, rows shifted by one, the first token of a block from the row before it.
BlockOptions fast_dllm(const ModelConfig& config, const DecodeOptions& o) {
  BlockOptions out = common(config, o);
  out.draw = BlockDraw::kProportional;
  out.sub_block_length = o.sub_block_length.value_or(std::min(kFastSubBlock, out.block_length));
  out.shifted_rows = true;
  out.seed_rule = BlockSeed::kFollows;
  out.stops_after_block = false;  // no block begins behind a stop token
  out.mid_block_stop = MidBlockStop::kWhenItStands;
  out.order = BlockOrder::kThreshold;
  out.threshold = o.threshold.value_or(kFastThreshold);
  out.top_p = o.top_p.value_or(kFastTopP);
  out.schedule.rule = BlockSchedule::Rule::kAtLeast;
  out.block_cache = o.block_cache;
  return out;
}

// The prompt and finished blocks are stored by causal forwards, each of which gives the first token of the
// next block; or, with a bidirectional context, as wholes.
BlockOptions nemotron(const ModelConfig& config, const DecodeOptions& o) {
  BlockOptions out = common(config, o);
  out.origin = GridOrigin::kPromptEnd;
  out.before = o.bidirectional_context ? ops::BeforeGrid::kWhole : ops::BeforeGrid::kCausal;
  out.seed_rule = o.bidirectional_context ? BlockSeed::kNone : BlockSeed::kBegins;
  out.mid_block_stop = MidBlockStop::kWhenItStands;
  out.schedule.steps = o.steps_per_block.value_or(out.block_length);
  if (o.threshold) {
    out.order = BlockOrder::kThreshold;
    out.threshold = *o.threshold;
    out.threshold_itself = true;
    out.schedule.rule = BlockSchedule::Rule::kAtLeast;
    if (out.schedule.steps < out.block_length) {
      throw_usage_error({field_name("steps_per_block"),
                         fmt::format("{}, the block length, beside a threshold", out.block_length),
                         std::to_string(out.schedule.steps)});
    }
  }
  return out;
}

BlockOptions llada2_of_both(const ModelConfig& config, const DecodeOptions& o) {
  BlockOptions out = common(config, o);
  out.draw = BlockDraw::kProportional;
  out.order = BlockOrder::kThreshold;
  out.threshold = o.threshold.value_or(kLlada2Threshold);
  return out;
}

BlockOptions llada2(const ModelConfig& config, const DecodeOptions& o) {
  BlockOptions out = llada2_of_both(config, o);
  const std::int32_t most = o.max_new_tokens / o.minimal_topk.value_or(1);
  if (most < 1) {
    throw_usage_error({field_name("minimal_topk"),
                       fmt::format("at most {} ({})", field_name("max_new_tokens"), o.max_new_tokens),
                       std::to_string(*o.minimal_topk)});
  }
  out.schedule.steps = std::min(o.steps_per_block.value_or(out.block_length), most);
  out.schedule.over_whole_block = true;
  if (o.eos_early_stop) out.mid_block_stop = MidBlockStop::kWhenWritten;
  return out;
}

// A token may change again as long as its block is decoded.
BlockOptions llada21(const ModelConfig& config, const DecodeOptions& o) {
  BlockOptions out = llada2_of_both(config, o);
  BlockEditing editing;
  editing.threshold = o.editing_threshold.value_or(editing.threshold);
  editing.most_post_steps = o.max_post_steps.value_or(editing.most_post_steps);
  editing.repeat_penalty = o.repeat_penalty.value_or(0);
  out.editing = editing;
  out.schedule.rule = BlockSchedule::Rule::kAtLeast;
  out.schedule.least = o.num_to_transfer.value_or(1);
  out.stops_after_block = o.eos_early_stop;
  return out;
}

}  // namespace

BlockOptions block_options(const ModelConfig& config, const DecodeOptions& options) {
  switch (loop_of(config, options)) {
    case kSdar:
      return sdar(config, options);
    case kFastDllm:
      return fast_dllm(config, options);
    case kNemotron:
      return nemotron(config, options);
    case kLlada2:
      return llada2(config, options);
    case kLlada21:
      return llada21(config, options);
    default:
      BUOY_CHECK(is_a2d(config.family));
      return bd3lm(config, options);
  }
}

}  // namespace buoy::decode
