// What a block proposes for its masks, and which of them are filled.

#include <algorithm>
#include <cmath>

#include "buoy/base/error.h"
#include "buoy/base/random.h"
#include "buoy/decode/block.h"
#include "buoy/ops/sampling/sampling.h"

namespace buoy::decode {
namespace {

ops::RowChoice choice_of(std::span<const double> probabilities, size_t token) {
  return {probabilities[token], static_cast<std::int32_t>(token)};
}

}  // namespace

ops::RowChoice greedy_choice(std::span<const double> row) {
  return choice_of(ops::softmax(row), ops::argmax(row));
}

DrawAddress BlockMachine::draw_address(std::int32_t position) const {
  return {options_.draw == BlockDraw::kNoise ? DrawStream::kTokenNoise : DrawStream::kTokenDraw,
          static_cast<std::uint32_t>(step_), static_cast<std::uint32_t>(position), 0};
}

std::optional<std::vector<ops::ChoiceRule>> BlockMachine::choice_rules() const {
  const bool draws = options_.temperature > 0;
  const bool filters = draws && options_.draw == BlockDraw::kProportional &&
                       (options_.top_k || (options_.top_p && *options_.top_p < 1));
  // Where the row before a block is for a later step, it is kept as logits.
  if (options_.cfg_scale > 0 || filters || (options_.shifted_rows && !options_.seeds_blocks))
    return std::nullopt;
  ops::ChoiceRule likeliest;
  likeliest.forbidden = options_.mask_token;
  std::vector<ops::ChoiceRule> rules(logit_rows_.size(), likeliest);
  if (phase_ != Phase::kDenoise || !draws) return rules;
  for (size_t i = 0; i < rules.size(); ++i) {
    ops::ChoiceRule& rule = rules[i];
    rule.seed = options_.seed;
    rule.address = draw_address(candidates_[i]);
    if (options_.draw == BlockDraw::kNoise) {
      rule.draw = ops::ChoiceRule::Draw::kNoisyLargest;
      rule.noise = options_.temperature;
    } else {
      rule.draw = ops::ChoiceRule::Draw::kProportional;
      rule.temperature = options_.temperature;
    }
  }
  return rules;
}

ops::RowChoice BlockMachine::propose(std::vector<double> row, std::int32_t position) const {
  if (options_.temperature == 0) return greedy_choice(row);
  DrawAddress address = draw_address(position);
  if (options_.draw == BlockDraw::kNoise) {
    const auto clean = ops::softmax(row);
    for (size_t v = 0; v < row.size(); ++v) {
      address.index = static_cast<std::uint32_t>(v);
      row[v] += options_.temperature * gumbel(uniform(options_.seed, address));
    }
    return choice_of(clean, ops::argmax(std::span<const double>(row)));
  }
  for (double& logit : row) logit /= options_.temperature;
  if (options_.top_k) ops::keep_top_k(row, *options_.top_k);
  if (options_.top_p && *options_.top_p < 1) ops::keep_top_p_above(row, *options_.top_p);
  const auto p = ops::softmax(row);
  return choice_of(p, ops::categorical(p, uniform(options_.seed, address)));
}

std::vector<size_t> BlockMachine::choose(std::span<const ops::RowChoice> proposals) const {
  BUOY_CHECK(!proposals.empty());
  const auto masks = static_cast<std::int64_t>(proposals.size());
  std::int64_t count = 1;
  if (options_.schedule.rule != BlockSchedule::Rule::kOneAtLeast) {
    BUOY_CHECK(step_in_block_ < counts_.size());
    count = std::min(counts_[step_in_block_], masks);
  }
  std::vector<size_t> sure;
  std::vector<Scored> scored;
  for (size_t i = 0; i < proposals.size(); ++i) {
    double score = proposals[i].confidence;
    if (options_.order == BlockOrder::kThreshold && score > options_.threshold) sure.push_back(i);
    if (options_.order == BlockOrder::kLeftToRight) score = -static_cast<double>(i);
    if (options_.order == BlockOrder::kRandom) {
      score = uniform(options_.seed, {DrawStream::kRandomOrder, static_cast<std::uint32_t>(step_),
                                      static_cast<std::uint32_t>(candidates_[i]), 0});
    }
    scored.push_back({static_cast<std::int32_t>(i), score});
  }
  if (options_.order == BlockOrder::kThreshold && std::ssize(sure) >= count) return sure;
  std::vector<size_t> chosen;
  for (const auto i : highest(std::move(scored), count)) chosen.push_back(static_cast<size_t>(i));
  return chosen;
}

}  // namespace buoy::decode
