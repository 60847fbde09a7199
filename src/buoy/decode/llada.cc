#include "buoy/decode/llada.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "buoy/base/error.h"
#include "buoy/base/field_name.h"
#include "buoy/base/random.h"
#include "buoy/decode/block_schedule.h"
#include "buoy/ops/sampling/sampling.h"

namespace buoy::decode {
namespace {

constexpr float kForbidden = -std::numeric_limits<float>::infinity();

// argmax of l + t * Gumbel noise: a sample of softmax(l / t).
size_t noisy_argmax(std::span<const float> logits, double temperature, std::uint64_t seed,
                    DrawAddress address) {
  size_t best = 0;
  double best_score = -std::numeric_limits<double>::infinity();
  for (size_t v = 0; v < logits.size(); ++v) {
    address.index = static_cast<std::uint32_t>(v);
    const double score = logits[v] + temperature * gumbel(uniform(seed, address));
    if (score > best_score) {
      best = v;
      best_score = score;
    }
  }
  return best;
}

}  // namespace

LladaOptions llada_options(const DecodeOptions& o) {
  LladaOptions options;
  options.max_new_tokens = o.max_new_tokens;
  options.steps = o.steps.value_or(o.max_new_tokens);
  options.block_length = o.block_length.value_or(o.max_new_tokens);
  const std::string order = o.algorithm.value_or("low_confidence");
  if (order == "random") {
    options.order = LladaOrder::kRandom;
  } else if (order != "low_confidence") {
    throw_usage_error({field_name("algorithm"), "one of low_confidence, random", '"' + order + '"'});
  }
  options.temperature = o.temperature;
  options.cfg_scale = o.cfg_scale.value_or(0);
  options.logits_eos_inf = o.logits_eos_inf;
  options.confidence_eos_eot_inf = o.confidence_eos_eot_inf;
  options.mask_token = o.mask_token.value();
  options.dllm_schedule = wants_dllm_schedule(o);
  options.forbid_mask = o.decoding_rule.has_value();  // A2D's mdlm
  if (!o.eos_tokens.empty()) options.eos_token = o.eos_tokens.front();
  options.eot_token = o.eot_token;
  options.seed = o.seed;
  return options;
}

void check_options(const LladaOptions& options) {
  check_bounds("max_new_tokens", options.max_new_tokens);
  check_bounds("temperature", options.temperature);
  check_bounds("cfg_scale", options.cfg_scale);
  if (options.block_length < 1 || options.max_new_tokens % options.block_length != 0) {
    throw_usage_error(
        {field_name("block_length"),
         fmt::format("a divisor of {} ({})", field_name("max_new_tokens"), options.max_new_tokens),
         std::to_string(options.block_length)});
  }
  const std::int32_t blocks = options.max_new_tokens / options.block_length;
  if (options.steps < 1 || options.steps % blocks != 0) {
    throw_usage_error({field_name("steps"), fmt::format("a multiple of the number of blocks ({})", blocks),
                       std::to_string(options.steps)});
  }
  for (const auto& [key, given] : {std::pair{"logits_eos_inf", options.logits_eos_inf},
                                   std::pair{"confidence_eos_eot_inf", options.confidence_eos_eot_inf}}) {
    if (given && !options.eos_token)
      throw_usage_error({field_name(key), "a known end-of-sequence token", "none in the config"});
  }
  if (options.confidence_eos_eot_inf && !options.eot_token)
    throw_usage_error({field_name("confidence_eos_eot_inf"), "a known end-of-turn token", "none"});
}

LladaMachine::LladaMachine(std::span<const std::int32_t> prompt, const LladaOptions& options)
    : StepMachine(prompt, options.max_new_tokens), options_(options) {
  check_options(options);
  row_.insert(row_.end(), static_cast<size_t>(options.max_new_tokens), options.mask_token);
  revealed_at_.resize(row_.size(), -1);
  for (const auto token : row_) is_prompt_.push_back(token != options.mask_token);
  if (options.dllm_schedule) dllm_counts_ = dllm_counts(options.block_length, options.steps / blocks());
}

std::int32_t LladaMachine::block_begin() const {
  return prompt_length_ + step_ / steps_per_block() * options_.block_length;
}

std::int64_t LladaMachine::quota() const {
  const std::int64_t steps = steps_per_block(), step_in_block = step_ % steps;
  if (options_.dllm_schedule) return dllm_counts_[static_cast<size_t>(step_in_block)];
  return masks_in_block_ / steps + (step_in_block < masks_in_block_ % steps ? 1 : 0);
}

std::vector<model::SequenceInput> LladaMachine::next_forwards() {
  const std::int32_t begin = block_begin(), end = begin + options_.block_length;
  if (step_ % steps_per_block() == 0) {
    masks_in_block_ = std::count(row_.begin() + begin, row_.begin() + end, options_.mask_token);
  }
  candidates_.clear();
  for (std::int32_t p = 0; p < end; ++p) {
    if (row_[static_cast<size_t>(p)] == options_.mask_token) candidates_.push_back(p);
  }
  std::vector<model::SequenceInput> forwards = {{row_, candidates_, nullptr}};
  if (options_.cfg_scale > 0) {
    unconditional_ = row_;
    for (size_t p = 0; p < row_.size(); ++p) {
      if (is_prompt_[p]) unconditional_[p] = options_.mask_token;
    }
    forwards.push_back({unconditional_, candidates_, nullptr});
  }
  return forwards;
}

StepRecord LladaMachine::advance(std::span<const LogitRows> logits) {
  for (const auto& token : {options_.eos_token, options_.eot_token}) {
    BUOY_CHECK(!token || (*token >= 0 && *token < logits[0].vocabulary));
  }
  std::vector<ops::RowChoice> choices;
  std::vector<float> row;
  for (size_t i = 0; i < candidates_.size(); ++i) {
    const auto conditional = logits[0].row(i);
    row.assign(conditional.begin(), conditional.end());
    if (options_.cfg_scale > 0) {
      const auto unconditional = logits[1].row(i);
      const float strength = static_cast<float>(options_.cfg_scale + 1.0);
      for (size_t v = 0; v < row.size(); ++v)
        row[v] = unconditional[v] + strength * (row[v] - unconditional[v]);
    }
    if (options_.logits_eos_inf) row[static_cast<size_t>(*options_.eos_token)] = kForbidden;
    if (options_.forbid_mask) row[static_cast<size_t>(options_.mask_token)] = kForbidden;

    const auto position = static_cast<std::uint32_t>(candidates_[i]);
    const auto step = static_cast<std::uint32_t>(step_);
    const size_t token = options_.temperature > 0 ? noisy_argmax(row, options_.temperature, options_.seed,
                                                                 {DrawStream::kTokenNoise, step, position, 0})
                                                  : ops::argmax(std::span<const float>(row));
    // In the reference this is one chained assignment: without noise both rows are the same tensor and
    // both tokens leave the confidence, with noise only the end-of-turn token does.
    if (options_.confidence_eos_eot_inf) {
      if (options_.temperature == 0) row[static_cast<size_t>(*options_.eos_token)] = kForbidden;
      row[static_cast<size_t>(*options_.eot_token)] = kForbidden;
    }
    const double confidence =
        options_.order == LladaOrder::kRandom ? 0 : std::exp(row[token] - ops::log_sum_exp(row));
    choices.push_back({confidence, static_cast<std::int32_t>(token)});
  }
  return settle(choices);
}

std::optional<std::vector<ops::ChoiceRule>> LladaMachine::choice_rules() const {
  if (options_.cfg_scale > 0 || (options_.forbid_mask && options_.logits_eos_inf)) return std::nullopt;
  std::vector<ops::ChoiceRule> rules;
  for (const auto position : candidates_) {
    ops::ChoiceRule& rule = rules.emplace_back();
    if (options_.temperature > 0) {
      rule.draw = ops::ChoiceRule::Draw::kNoisyLargest;
      rule.noise = options_.temperature;
      rule.seed = options_.seed;
      rule.address = {DrawStream::kTokenNoise, static_cast<std::uint32_t>(step_),
                      static_cast<std::uint32_t>(position), 0};
    }
    if (options_.logits_eos_inf) rule.forbidden = *options_.eos_token;
    if (options_.forbid_mask) rule.forbidden = options_.mask_token;
    if (options_.confidence_eos_eot_inf) {
      if (options_.temperature == 0) rule.unmeasured[0] = *options_.eos_token;
      rule.unmeasured[1] = *options_.eot_token;
    }
  }
  return rules;
}

StepRecord LladaMachine::advance_chosen(std::span<const ops::RowChoice> choices) {
  BUOY_CHECK(choices.size() == candidates_.size());
  return settle(choices);
}

StepRecord LladaMachine::advance_edited(std::span<const Edit> edits) {
  return edit_masked_row(edits, options_.mask_token, all_steps());
}

StepRecord LladaMachine::settle(std::span<const ops::RowChoice> choices) {
  StepRecord record{step_, all_steps(), {}};
  std::vector<Scored> scored;
  for (size_t i = 0; i < candidates_.size(); ++i) {
    const DrawAddress address{DrawStream::kRandomOrder, static_cast<std::uint32_t>(step_),
                              static_cast<std::uint32_t>(candidates_[i]), 0};
    scored.push_back({candidates_[i], options_.order == LladaOrder::kRandom ? uniform(options_.seed, address)
                                                                            : choices[i].confidence});
  }
  for (const auto position : highest(scored, quota())) {
    const auto i = static_cast<size_t>(std::lower_bound(candidates_.begin(), candidates_.end(), position) -
                                       candidates_.begin());
    // A model may propose the mask itself; the position then simply stays masked.
    if (choices[i].token != options_.mask_token) reveal(record, position, choices[i].token, scored[i].score);
  }
  ++step_;
  return record;
}

}  // namespace buoy::decode
