#include "buoy/decode/block.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "buoy/base/error.h"
#include "buoy/base/field_name.h"

namespace buoy::decode {

void check_options(const BlockOptions& o) {
  check_bounds("max_new_tokens", o.max_new_tokens);
  check_bounds("temperature", o.temperature);
  check_bounds("cfg_scale", o.cfg_scale);
  check_bounds("block_length", o.block_length);
  check_bounds("threshold", o.threshold);
  if (o.top_p) check_bounds("top_p", *o.top_p);
  if (o.top_k) check_bounds("top_k", static_cast<double>(*o.top_k));
  if (o.sub_block_length < 1 || o.block_length % o.sub_block_length != 0) {
    throw_usage_error({field_name("sub_block_length"),
                       fmt::format("a divisor of {} ({})", field_name("block_length"), o.block_length),
                       std::to_string(o.sub_block_length)});
  }
  if (o.schedule.steps < 1 || (o.schedule.over_whole_block && o.schedule.steps > o.block_length)) {
    throw_usage_error({field_name("steps_per_block"),
                       fmt::format("1 to {}, the block length", o.block_length),
                       std::to_string(o.schedule.steps)});
  }
  if (o.block_cache && !o.cached)
    throw_usage_error({field_name("block_cache"), "a cache of finished blocks", "none"});
  BUOY_CHECK(!o.block_cache || o.seeds_blocks);  // a block's first position is always known there
}

BlockMachine::BlockMachine(std::span<const std::int32_t> prompt, const BlockOptions& options,
                           model::KvCache cache)
    : StepMachine(prompt, options.max_new_tokens),
      options_(options),
      cache_(std::move(cache)),
      unconditional_cache_(cache_.prefix(0)) {
  check_options(options);
  BUOY_CHECK(cache_.length() == 0);
  const std::int64_t b = options.block_length, prompt_end = prompt_length_;
  if (options.origin == GridOrigin::kPromptEnd) {
    origin_ = begin_ = end_ = prompt_end;
    last_end_ = prompt_end + options.max_new_tokens;
  } else {
    begin_ = end_ = prompt_end / b * b;
    // A family that seeds its blocks counts the one with the prompt's tail among those that were asked for.
    last_end_ = options.seeds_blocks ? end_ + options.max_new_tokens / b * b
                                     : (prompt_end + options.max_new_tokens + b - 1) / b * b;
    if (!options.seeds_blocks) extend_row(last_end_);
  }
  const bool seeded = options.seeds_blocks && end_ > 0 && prompt_end == end_;
  const bool row_wanted = options.seeds_blocks ? seeded : options.shifted_rows;
  const bool stored = options.cached && end_ > 0 && end_ < last_end_;
  if (!stored && !row_wanted) begin_block();
}

void BlockMachine::extend_row(std::int64_t end) {
  row_.resize(static_cast<size_t>(end), options_.mask_token);
  revealed_at_.resize(row_.size(), -1);
}

bool BlockMachine::has_masks(std::int64_t begin, std::int64_t end) const {
  return std::find(row_.begin() + begin, row_.begin() + end, options_.mask_token) != row_.begin() + end;
}

bool BlockMachine::is_stop(std::int32_t token) const {
  return std::find(options_.stop_tokens.begin(), options_.stop_tokens.end(), token) !=
         options_.stop_tokens.end();
}

// In what was generated, with no mask before it.
bool BlockMachine::stop_stands() const {
  for (size_t p = static_cast<size_t>(prompt_length_); p < row_.size(); ++p) {
    if (row_[p] == options_.mask_token) return false;
    if (is_stop(row_[p])) return true;
  }
  return false;
}

std::span<const std::int32_t> BlockMachine::generated() const {
  const auto all = std::span(row_).subspan(static_cast<size_t>(prompt_length_));
  const auto asked = all.first(std::min(all.size(), static_cast<size_t>(options_.max_new_tokens)));
  if (!finished()) return asked;
  for (size_t i = 0; i < asked.size(); ++i) {
    if (asked[i] == options_.mask_token) return asked.first(i);
    if (is_stop(asked[i])) return asked.first(i + 1);
  }
  return asked;
}

void BlockMachine::begin_block() {
  const bool seeded = options_.seeds_blocks;
  if (end_ >= last_end_ || (seeded && stop_stands())) {
    phase_ = Phase::kFinished;
    return;
  }
  begin_ = end_;
  end_ = std::min(begin_ + options_.block_length, last_end_);
  if (std::ssize(row_) < end_) extend_row(end_);
  BUOY_CHECK(!seeded || !is_mask(begin_));
  const BlockSchedule& schedule = options_.schedule;
  const std::int64_t masks = schedule.over_whole_block ? options_.block_length : end_ - begin_;
  counts_.clear();
  if (schedule.rule == BlockSchedule::Rule::kQuota) counts_ = quota_counts(masks, schedule.steps);
  if (schedule.rule == BlockSchedule::Rule::kDllm) counts_ = dllm_counts(masks, schedule.steps);
  std::erase(counts_, 0);  // a step that fills nothing is no step
  step_in_block_ = 0;
  block_cache_.reset();
  phase_ = Phase::kDenoise;
  sub_end_ = begin_;
  begin_sub_block();
}

// The next part of the block that has masks.
void BlockMachine::begin_sub_block() {
  do {
    sub_begin_ = sub_end_;
    sub_end_ = std::min(sub_begin_ + options_.sub_block_length, end_);
  } while (!has_masks(sub_begin_, sub_end_) && sub_end_ < end_);
  if (!has_masks(sub_begin_, sub_end_)) end_block();
}

void BlockMachine::end_block() {
  const bool more = end_ < last_end_;
  const bool stopped =
      !options_.seeds_blocks && std::any_of(row_.begin() + prompt_length_, row_.begin() + end_,
                                            [&](auto token) { return is_stop(token); });
  if (!options_.seeds_blocks && (stopped || !more)) {
    phase_ = Phase::kFinished;
  } else if (options_.cached || needs_row_before()) {
    phase_ = Phase::kStoreBlock;
  } else {
    begin_block();
  }
}

model::SequenceInput BlockMachine::input(std::span<const std::int32_t> tokens, model::KvCache* cache) const {
  model::SequenceInput out{tokens, logit_rows_, cache};
  out.grid = grid();
  return out;
}

// The row with the prompt's tokens hidden.
std::span<const std::int32_t> BlockMachine::without_prompt(std::int64_t begin, std::int64_t end) {
  unconditional_ = row_;
  std::fill_n(unconditional_.begin(), prompt_length_, options_.mask_token);
  return std::span(unconditional_).subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
}

std::vector<model::SequenceInput> BlockMachine::next_forwards() {
  BUOY_CHECK(!finished());
  return phase_ == Phase::kDenoise ? denoising_forwards() : storing_forwards();
}

std::vector<model::SequenceInput> BlockMachine::storing_forwards() {
  const std::int64_t first = kept();
  candidates_.clear();
  logit_rows_.clear();
  if (needs_row_before()) logit_rows_.push_back(static_cast<std::int32_t>(end_ - 1 - first));
  const auto tokens = std::span(row_).subspan(static_cast<size_t>(first), static_cast<size_t>(end_ - first));
  std::vector<model::SequenceInput> forwards = {input(tokens, options_.cached ? &cache_ : nullptr)};
  if (options_.cfg_scale > 0)
    forwards.push_back(input(without_prompt(first, end_), options_.cached ? &unconditional_cache_ : nullptr));
  return forwards;
}

std::vector<model::SequenceInput> BlockMachine::denoising_forwards() {
  // With a block cache, rows of the sub-block alone once the whole block has been seen.
  const bool part = block_cache_ && !is_mask(sub_begin_);
  const std::int64_t first = part ? sub_begin_ : kept(), end = part ? sub_end_ : end_;
  candidates_.clear();
  logit_rows_.clear();
  for (std::int64_t p = sub_begin_; p < sub_end_; ++p) {
    if (!is_mask(p)) continue;
    candidates_.push_back(static_cast<std::int32_t>(p));
    // The first row of a block stands in for the one before it; who needs that one has it (row_before_).
    const std::int64_t lowest = part ? sub_begin_ : begin_;
    logit_rows_.push_back(
        static_cast<std::int32_t>((options_.shifted_rows ? std::max(p - 1, lowest) : p) - first));
  }
  const auto tokens = std::span(row_).subspan(static_cast<size_t>(first), static_cast<size_t>(end - first));
  if (options_.block_cache) {
    if (!part) block_cache_ = cache_.prefix(cache_.length());
    auto forward = input(tokens, &*block_cache_);
    if (part) forward.replaces_from = first;
    return {forward};
  }
  std::vector<model::SequenceInput> forwards = {input(tokens, options_.cached ? &cache_ : nullptr)};
  if (options_.cfg_scale > 0)
    forwards.push_back(input(without_prompt(first, end), options_.cached ? &unconditional_cache_ : nullptr));
  for (auto& forward : forwards) forward.extends_cache = false;
  return forwards;
}

std::vector<double> BlockMachine::row_of(std::span<const LogitRows> logits, size_t i) const {
  const auto conditional = logits[0].row(i);
  std::vector<double> row(conditional.begin(), conditional.end());
  if (options_.cfg_scale > 0) {
    const auto without = logits[1].row(i);
    for (size_t v = 0; v < row.size(); ++v)
      row[v] = without[v] + (options_.cfg_scale + 1) * (row[v] - without[v]);
  }
  row[static_cast<size_t>(options_.mask_token)] = -std::numeric_limits<double>::infinity();
  return row;
}

// A token may stand behind the last block: the first of one that was not decoded any more.
std::int64_t BlockMachine::decoded_length() const {
  std::int64_t length = std::max<std::int64_t>(end_, prompt_length_);
  while (length < std::ssize(row_) && !is_mask(length)) ++length;
  return length;
}

StepRecord BlockMachine::advance(std::span<const LogitRows> logits) {
  BUOY_CHECK(!finished() && options_.mask_token < logits[0].vocabulary);
  std::vector<ops::RowChoice> proposals;
  if (phase_ != Phase::kDenoise) {
    if (needs_row_before()) row_before_ = row_of(logits, 0);
    if (options_.seeds_blocks) proposals.push_back(greedy_choice(row_before_));
    return settle(proposals);
  }
  for (size_t i = 0; i < candidates_.size(); ++i) {
    const bool before = options_.shifted_rows && !options_.seeds_blocks && candidates_[i] == begin_;
    proposals.push_back(propose(before ? row_before_ : row_of(logits, i), candidates_[i]));
  }
  return settle(proposals);
}

StepRecord BlockMachine::advance_chosen(std::span<const ops::RowChoice> choices) {
  BUOY_CHECK(!finished() && choices.size() == logit_rows_.size());
  return settle(choices);
}

StepRecord BlockMachine::settle(std::span<const ops::RowChoice> proposals) {
  ++forward_;
  const auto blocks = (last_end_ - origin_ + options_.block_length - 1) / options_.block_length;
  const bool one_by_one = options_.schedule.rule == BlockSchedule::Rule::kOneAtLeast;
  const auto most =
      one_by_one ? options_.max_new_tokens : static_cast<std::int32_t>(blocks) * options_.schedule.steps;
  StepRecord record{step_, std::max(most, step_ + 1), {}};
  if (phase_ != Phase::kDenoise) {
    record.kind = phase_ == Phase::kStorePrompt ? StepKind::kPrefill : StepKind::kFinish;
    // Behind a prompt that ends inside a block no token is missing.
    if (options_.seeds_blocks && std::ssize(row_) == end_) {
      extend_row(end_ + 1);
      const ops::RowChoice& seed = proposals.front();
      reveal(record, static_cast<std::int32_t>(end_), seed.token, seed.confidence);
    }
    begin_block();
    return record;
  }
  for (const size_t i : choose(proposals))
    reveal(record, candidates_[i], proposals[i].token, proposals[i].confidence);
  ++step_;
  ++step_in_block_;
  if (options_.stops_inside_block && stop_stands()) {
    phase_ = Phase::kFinished;
  } else if (!has_masks(sub_begin_, sub_end_)) {
    begin_sub_block();
  }
  return record;
}

}  // namespace buoy::decode
