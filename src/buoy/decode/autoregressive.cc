#include "buoy/decode/autoregressive.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "buoy/base/error.h"
#include "buoy/base/random.h"
#include "buoy/ops/sampling/sampling.h"

namespace buoy::decode {
namespace {

void penalise(std::vector<double>& logits, std::span<const std::int32_t> seen, double penalty) {
  for (const auto id : std::set<std::int32_t>(seen.begin(), seen.end())) {
    double& logit = logits[static_cast<size_t>(id)];
    logit = logit > 0 ? logit / penalty : logit * penalty;
  }
}

}  // namespace

AutoregressiveOptions autoregressive_options(const DecodeOptions& o) {
  AutoregressiveOptions options;
  options.max_new_tokens = o.max_new_tokens;
  options.temperature = o.temperature;
  options.top_k = o.top_k;
  options.top_p = o.top_p;
  options.repetition_penalty = o.repetition_penalty.value_or(1);
  options.eos_tokens = o.eos_tokens;
  options.seed = o.seed;
  return options;
}

void check_options(const AutoregressiveOptions& options) {
  check_bounds("max_new_tokens", options.max_new_tokens);
  check_bounds("temperature", options.temperature);
  if (options.top_p) check_bounds("top_p", *options.top_p);
  if (options.top_k) check_bounds("top_k", static_cast<double>(*options.top_k));
  check_bounds("repetition_penalty", options.repetition_penalty);
}

AutoregressiveMachine::AutoregressiveMachine(std::span<const std::int32_t> prompt,
                                             const AutoregressiveOptions& options, model::KvCache cache)
    : StepMachine(prompt, options.max_new_tokens), options_(options), cache_(std::move(cache)) {
  check_options(options);
  // Most answers end long before a generous limit: what is reserved is the cache's first size, not its last.
  constexpr std::int64_t kMostReserved = 1024;
  cache_.reserve(static_cast<std::int64_t>(prompt.size()) +
                 std::min<std::int64_t>(options.max_new_tokens, kMostReserved));
}

std::vector<model::SequenceInput> AutoregressiveMachine::next_forwards() {
  const auto fresh = std::span(row_).subspan(static_cast<size_t>(cache_.length()));
  last_row_ = static_cast<std::int32_t>(fresh.size()) - 1;
  return {{fresh, std::span(&last_row_, 1), &cache_}};
}

StepRecord AutoregressiveMachine::advance(std::span<const LogitRows> logits) {
  const auto last = logits[0].row(0);
  std::vector<double> row(last.begin(), last.end());
  if (options_.repetition_penalty != 1) penalise(row, row_, options_.repetition_penalty);
  const auto position = static_cast<std::int32_t>(row_.size());
  if (options_.temperature > 0) {
    for (double& logit : row) logit /= options_.temperature;
    if (options_.top_k) ops::keep_top_k(row, *options_.top_k);
    if (options_.top_p && *options_.top_p < 1) ops::keep_top_p_below(row, *options_.top_p);
  }
  const auto p = ops::softmax(row);
  const DrawAddress address{DrawStream::kTokenDraw, static_cast<std::uint32_t>(step_),
                            static_cast<std::uint32_t>(position), 0};
  const size_t token = options_.temperature > 0 ? ops::categorical(p, uniform(options_.seed, address))
                                                : ops::argmax(std::span<const double>(row));
  return settle({p[token], static_cast<std::int32_t>(token)});
}

std::optional<std::vector<ops::ChoiceRule>> AutoregressiveMachine::choice_rules() const {
  const bool sampled = options_.temperature > 0,
             filtered = options_.top_k || (options_.top_p && *options_.top_p < 1);
  if (options_.repetition_penalty != 1 || (sampled && filtered)) return std::nullopt;
  ops::ChoiceRule rule;
  if (sampled) {
    rule.draw = ops::ChoiceRule::Draw::kProportional;
    rule.temperature = options_.temperature;
    rule.seed = options_.seed;
    rule.address = {DrawStream::kTokenDraw, static_cast<std::uint32_t>(step_),
                    static_cast<std::uint32_t>(row_.size()), 0};
  }
  return std::vector{rule};
}

StepRecord AutoregressiveMachine::advance_chosen(std::span<const ops::RowChoice> choices) {
  BUOY_CHECK(choices.size() == 1);
  return settle(choices[0]);
}

AutoregressiveMachine::AutoregressiveMachine(const AutoregressiveMachine& other, model::KvCache cache)
    : StepMachine(other),
      options_(other.options_),
      cache_(std::move(cache)),
      last_row_(other.last_row_),
      finished_(other.finished_) {}

// The last token is run again: its logits are wanted. A prompt that sees all of itself is run as a whole.
model::KvCache AutoregressiveMachine::cache_for(std::int64_t tokens) const {
  const std::int64_t kept = std::min(cache_.length(), tokens - 1);
  return cache_.prefix(kept < prompt_length_ ? 0 : kept);
}

std::unique_ptr<StepMachine> AutoregressiveMachine::clone() const {
  return std::unique_ptr<StepMachine>(new AutoregressiveMachine(*this, cache_for(std::ssize(row_))));
}

void AutoregressiveMachine::drop_from(std::int32_t position) {
  row_.resize(static_cast<size_t>(position));
  revealed_at_.resize(row_.size());
  if (cache_.length() >= position) cache_ = cache_for(position);
}

void AutoregressiveMachine::rewind(std::int32_t step) {
  BUOY_CHECK(step >= 0 && step <= step_);
  drop_from(std::min(prompt_length_ + step, static_cast<std::int32_t>(row_.size())));
  step_ = step;
  finished_ = false;
}

StepRecord AutoregressiveMachine::advance_edited(std::span<const Edit> edits) {
  const auto end = static_cast<std::int32_t>(row_.size());
  if (edits.size() != 1) throw_usage_error({"edits", "one token, the next", fmt::format("{}", edits.size())});
  const Edit& edit = edits[0];
  if (edit.token == kMaskAgain) {
    if (edit.position < prompt_length_ || edit.position >= end)
      throw_usage_error({"position", "one of the answer's", std::to_string(edit.position)});
    StepRecord record{step_, options_.max_new_tokens, {}};
    drop_from(edit.position);
    ++step_;
    finished_ = step_ == options_.max_new_tokens;
    return record;
  }
  if (edit.position != end)
    throw_usage_error({"position", fmt::format("{}, the next one", end), std::to_string(edit.position)});
  if (edit.token < 0) throw_usage_error({"token", "an id", std::to_string(edit.token)});
  return settle({edit.confidence, edit.token});
}

StepRecord AutoregressiveMachine::settle(const ops::RowChoice& choice) {
  StepRecord record{step_, options_.max_new_tokens, {}};
  const auto position = static_cast<std::int32_t>(row_.size());
  row_.push_back(0);
  revealed_at_.push_back(-1);
  reveal(record, position, choice.token, choice.confidence);
  ++step_;
  const bool ended = std::find(options_.eos_tokens.begin(), options_.eos_tokens.end(), row_.back()) !=
                     options_.eos_tokens.end();
  finished_ = ended || step_ == options_.max_new_tokens;
  return record;
}

}  // namespace buoy::decode
