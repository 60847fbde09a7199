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

DrawAddress BlockMachine::draw_address(BlockDraw draw, std::int32_t position) const {
  return {draw == BlockDraw::kNoise ? DrawStream::kTokenNoise : DrawStream::kTokenDraw,
          static_cast<std::uint32_t>(step_), static_cast<std::uint32_t>(position), 0};
}

std::optional<std::vector<ops::ChoiceRule>> BlockMachine::choice_rules() const {
  const bool draws = options_.temperature > 0;
  const bool filters = draws && options_.draw == BlockDraw::kProportional &&
                       (options_.top_k || (options_.top_p && *options_.top_p < 1));
  // Where the row before a block is for a later step, it is kept as logits.
  if (options_.cfg_scale > 0 || filters || (options_.shifted_rows && !seeds())) return std::nullopt;
  if (options_.editing && options_.editing->repeat_penalty != 0) return std::nullopt;
  ops::ChoiceRule likeliest;
  likeliest.forbidden = options_.mask_token;
  std::vector<ops::ChoiceRule> rules(logit_rows_.size(), likeliest);
  const bool seed = phase_ != Phase::kDenoise;
  if (!draws || (seed && options_.seed_rule != BlockSeed::kBegins)) return rules;
  const BlockDraw draw = seed ? BlockDraw::kProportional : options_.draw;
  for (size_t i = 0; i < rules.size(); ++i) {
    ops::ChoiceRule& rule = rules[i];
    rule.seed = options_.seed;
    rule.address = draw_address(draw, seed ? static_cast<std::int32_t>(end_) : candidates_[i]);
    if (draw == BlockDraw::kNoise) {
      rule.draw = ops::ChoiceRule::Draw::kNoisyLargest;
      rule.noise = options_.temperature;
    } else {
      rule.draw = ops::ChoiceRule::Draw::kProportional;
      rule.temperature = options_.temperature;
    }
  }
  return rules;
}

ops::RowChoice BlockMachine::propose_seed() const {
  if (seed_follows()) return greedy_choice(row_before_);
  return propose(row_before_, BlockDraw::kProportional, static_cast<std::int32_t>(end_));
}

ops::RowChoice BlockMachine::propose(std::vector<double> row, BlockDraw draw, std::int32_t position) const {
  if (options_.temperature == 0) return greedy_choice(row);
  DrawAddress address = draw_address(draw, position);
  if (draw == BlockDraw::kNoise) {
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

// Masks that are filled.
std::vector<size_t> BlockMachine::choose(std::span<const ops::RowChoice> proposals) const {
  std::vector<size_t> masks;
  for (size_t i = 0; i < proposals.size(); ++i) {
    if (is_mask(candidates_[i])) masks.push_back(i);
  }
  if (masks.empty()) return {};
  std::int64_t count = options_.schedule.least;
  if (options_.schedule.rule != BlockSchedule::Rule::kAtLeast) {
    BUOY_CHECK(step_in_block_ < counts_.size());
    count = counts_[step_in_block_];
  }
  count = std::min(count, std::ssize(masks));
  std::vector<size_t> sure;
  std::vector<Scored> scored;
  for (const size_t i : masks) {
    double score = proposals[i].confidence;
    const bool enough =
        score > options_.threshold || (options_.threshold_itself && score == options_.threshold);
    if (options_.order == BlockOrder::kThreshold && enough) sure.push_back(i);
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

// Tokens that another one replaces.
std::vector<size_t> BlockMachine::choose_edits(std::span<const ops::RowChoice> proposals) const {
  std::vector<size_t> edits;
  for (size_t i = 0; i < proposals.size() && options_.editing; ++i) {
    const std::int32_t position = candidates_[i];
    if (may_be_edited(position) && proposals[i].confidence > options_.editing->threshold &&
        proposals[i].token != row_[static_cast<size_t>(position)])
      edits.push_back(i);
  }
  return edits;
}

}  // namespace buoy::decode
