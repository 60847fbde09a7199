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
  BUOY_CHECK(!o.block_cache ||
             o.seed_rule == BlockSeed::kFollows);  // a block's first position is known there
  if (!o.editing) return;
  check_bounds("editing_threshold", o.editing->threshold);
  check_bounds("max_post_steps", o.editing->most_post_steps);
  check_bounds("repeat_penalty", o.editing->repeat_penalty);
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
    if (options.before != ops::BeforeGrid::kBlocks)  // every block is a whole one
      last_end_ = prompt_end + (options.max_new_tokens + b - 1) / b * b;
  } else {
    begin_ = end_ = prompt_end / b * b;
    // A family that seeds its blocks counts the one with the prompt's tail among those that were asked for.
    last_end_ = seed_follows() ? end_ + options.max_new_tokens / b * b
                               : (prompt_end + options.max_new_tokens + b - 1) / b * b;
    if (!seed_follows()) extend_row(last_end_);
  }
  const bool seeded = seeds() && end_ > 0 && prompt_end == end_;
  const bool row_wanted = seeds() ? seeded : options.shifted_rows;
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
  if (end_ >= last_end_ || (seed_follows() && stop_stands())) {
    phase_ = Phase::kFinished;
    return;
  }
  begin_ = end_;
  end_ = std::min(begin_ + options_.block_length, last_end_);
  if (std::ssize(row_) < end_) extend_row(end_);
  BUOY_CHECK(!seeds() || !is_mask(begin_));
  const BlockSchedule& schedule = options_.schedule;
  const std::int64_t masks =
      schedule.over_whole_block ? options_.block_length
                                : std::count(row_.begin() + begin_, row_.begin() + end_, options_.mask_token);
  counts_.clear();
  if (schedule.rule == BlockSchedule::Rule::kQuota) counts_ = quota_counts(masks, schedule.steps);
  if (schedule.rule == BlockSchedule::Rule::kDllm) counts_ = dllm_counts(masks, schedule.steps);
  std::erase(counts_, 0);  // a step that fills nothing is no step
  step_in_block_ = 0;
  post_steps_ = 0;
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
      options_.stops_after_block && std::any_of(row_.begin() + prompt_length_, row_.begin() + end_,
                                                [&](auto token) { return is_stop(token); });
  if (!seed_follows() && (stopped || !more)) {
    phase_ = Phase::kFinished;
  } else if (cache_.length() < end_ && (options_.cached || needs_row_before()) && !stores_on_the_way()) {
    phase_ = Phase::kStoreBlock;
  } else {
    stores_now_ = options_.cached && cache_.length() < end_;
    begin_block();
  }
}

model::BlockGrid BlockMachine::forward_grid() const {
  if (options_.before != ops::BeforeGrid::kCausal) return {options_.block_length, origin_, options_.before};
  if (phase_ != Phase::kDenoise) return {1};
  return {options_.block_length, begin_, options_.before};
}

model::SequenceInput BlockMachine::input(std::span<const std::int32_t> tokens, model::KvCache* cache) const {
  model::SequenceInput out{tokens, logit_rows_, cache};
  out.grid = forward_grid();
  return out;
}

std::span<const std::int32_t> BlockMachine::row_between(std::int64_t begin, std::int64_t end) const {
  return std::span(row_).subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
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
  const auto tokens = row_between(first, end_);
  std::vector<model::SequenceInput> forwards = {input(tokens, options_.cached ? &cache_ : nullptr)};
  if (options_.cfg_scale > 0)
    forwards.push_back(input(without_prompt(first, end_), options_.cached ? &unconditional_cache_ : nullptr));
  return forwards;
}

std::vector<model::SequenceInput> BlockMachine::denoising_forwards() {
  // With a block cache, rows of the sub-block alone once the whole block has been seen.
  const bool part = block_cache_ && !is_mask(sub_begin_);
  const std::int64_t first = part ? sub_begin_ : stores_now_ ? begin_ : kept(), end = part ? sub_end_ : end_;
  candidates_.clear();
  logit_rows_.clear();
  for (std::int64_t p = sub_begin_; p < sub_end_; ++p) {
    if (!is_mask(p) && !may_be_edited(p)) continue;
    candidates_.push_back(static_cast<std::int32_t>(p));
    // The first row of a block stands in for the one before it; who needs that one has it (row_before_).
    const std::int64_t lowest = part ? sub_begin_ : begin_;
    logit_rows_.push_back(
        static_cast<std::int32_t>((options_.shifted_rows ? std::max(p - 1, lowest) : p) - first));
  }
  const auto tokens = row_between(first, end);
  if (options_.block_cache) {
    if (!part) block_cache_ = cache_.prefix(cache_.length());
    auto forward = input(tokens, &*block_cache_);
    if (part) forward.replaces_from = first;
    return {forward};
  }
  std::vector<model::SequenceInput> forwards = {input(tokens, options_.cached ? &cache_ : nullptr)};
  if (options_.cfg_scale > 0)
    forwards.push_back(input(without_prompt(first, end), options_.cached ? &unconditional_cache_ : nullptr));
  // A forward that changes nothing leaves final keys and values: behind the last mask, any may be it.
  const bool may_be_last = options_.editing && !has_masks(begin_, end_);
  for (auto& forward : forwards) forward.extends_cache = may_be_last;
  if (!stores_now_) return forwards;
  model::SequenceInput stored = input(row_between(cache_.length(), begin_), &cache_);
  stored.logit_rows = {};
  forwards.front().behind = stored.rows();
  return {stored, forwards.front()};
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
  if (stores_now_) logits = logits.subspan(1);
  std::vector<ops::RowChoice> proposals;
  if (phase_ != Phase::kDenoise) {
    if (needs_row_before()) row_before_ = row_of(logits, 0);
    if (seeds()) proposals.push_back(propose_seed());
    return settle(proposals);
  }
  for (size_t i = 0; i < candidates_.size(); ++i) {
    const std::int32_t position = candidates_[i];
    const bool before = options_.shifted_rows && !seeds() && position == begin_;
    std::vector<double> row = before ? row_before_ : row_of(logits, i);
    if (options_.editing && position > begin_)
      row[static_cast<size_t>(row_[static_cast<size_t>(position - 1)])] -= options_.editing->repeat_penalty;
    proposals.push_back(propose(std::move(row), options_.draw, position));
  }
  return settle(proposals);
}

StepRecord BlockMachine::advance_chosen(std::span<const ops::RowChoice> choices) {
  BUOY_CHECK(!finished() && choices.size() == logit_rows_.size());
  return settle(choices);
}

StepRecord BlockMachine::settle(std::span<const ops::RowChoice> proposals) {
  forward_ += std::exchange(stores_now_, false) ? 2 : 1;
  const auto blocks =
      static_cast<std::int32_t>((last_end_ - origin_ + options_.block_length - 1) / options_.block_length);
  std::int32_t most = blocks * options_.schedule.steps;
  if (options_.schedule.rule == BlockSchedule::Rule::kAtLeast) most = options_.max_new_tokens;
  if (options_.editing) most = blocks * (options_.block_length + options_.editing->most_post_steps);
  StepRecord record{step_, std::max(most, step_ + 1), {}};
  if (phase_ != Phase::kDenoise) {
    record.kind = phase_ == Phase::kStorePrompt ? StepKind::kPrefill : StepKind::kFinish;
    // Behind a prompt that ends inside a block no token is missing.
    if (seeds() && std::ssize(row_) == end_) {
      extend_row(end_ + 1);
      const ops::RowChoice& seed = proposals.front();
      reveal(record, static_cast<std::int32_t>(end_), seed.token, seed.confidence);
    }
    begin_block();
    return record;
  }
  const bool masks_were_there = has_masks(begin_, end_);
  std::vector<size_t> written = choose(proposals);
  const std::vector<size_t> edits = choose_edits(proposals);
  written.insert(written.end(), edits.begin(), edits.end());
  std::sort(written.begin(), written.end());
  bool stop_written = false;
  for (const size_t i : written) {
    reveal(record, candidates_[i], proposals[i].token, proposals[i].confidence);
    stop_written = stop_written || is_stop(proposals[i].token);
  }
  ++step_;
  ++step_in_block_;
  end_step(masks_were_there, stop_written, edits.size());
  return record;
}

void BlockMachine::end_step(bool masks_were_there, bool stop_written, size_t edits) {
  const bool asked = options_.mid_block_stop == MidBlockStop::kWhenItStands ||
                     (options_.mid_block_stop == MidBlockStop::kWhenWritten && stop_written);
  if (asked && stop_stands()) {
    phase_ = Phase::kFinished;
    return;
  }
  if (has_masks(sub_begin_, sub_end_)) return;
  if (!options_.editing) return begin_sub_block();
  if (!masks_were_there && edits == 0) return end_block();
  if (cache_.length() > begin_) cache_.shorten(begin_);  // what was stored was not the last word
  if (++post_steps_ > options_.editing->most_post_steps) end_block();
}

}  // namespace buoy::decode
