#include "buoy/decode/rnd1.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "buoy/base/error.h"
#include "buoy/base/field_name.h"
#include "buoy/base/random.h"
#include "buoy/ops/sampling/sampling.h"

namespace buoy::decode {

Rnd1Options rnd1_options(const DecodeOptions& o) {
  if (o.temperature > 0 && o.entropy_temperature) {
    throw_usage_error({field_name("entropy_temperature"),
                       "none beside a temperature, which is that of the entropies, too", "both"});
  }
  Rnd1Options options;
  options.max_new_tokens = o.max_new_tokens;
  options.steps = o.steps.value_or(o.max_new_tokens);
  options.temperature = o.temperature;
  options.entropy_temperature = o.temperature > 0 ? o.temperature : o.entropy_temperature.value_or(1);
  options.top_k = o.top_k;
  options.top_p = o.top_p;
  options.entropy_bound = o.entropy_bound;
  options.mask_token = o.mask_token.value();
  options.seed = o.seed;
  return options;
}

void check_options(const Rnd1Options& options) {
  check_bounds("max_new_tokens", options.max_new_tokens);
  check_bounds("steps", options.steps);
  check_bounds("temperature", options.temperature);
  check_bounds("entropy_temperature", options.entropy_temperature);
  if (options.top_p) check_bounds("top_p", *options.top_p);
  if (options.top_k) check_bounds("top_k", static_cast<double>(*options.top_k));
  if (options.entropy_bound) check_bounds("entropy_bound", *options.entropy_bound);
}

Rnd1Machine::Rnd1Machine(std::span<const std::int32_t> prompt, const Rnd1Options& options)
    : StepMachine(prompt, options.max_new_tokens), options_(options) {
  check_options(options);
  row_.insert(row_.end(), static_cast<size_t>(options.max_new_tokens), options.mask_token);
  revealed_at_.resize(row_.size(), -1);
  masks_at_start_ = std::count(row_.begin(), row_.end(), options.mask_token);
}

std::vector<model::SequenceInput> Rnd1Machine::next_forwards() {
  masked_.clear();
  logit_rows_.clear();
  for (size_t p = 0; p < row_.size(); ++p) {
    if (row_[p] != options_.mask_token) continue;
    masked_.push_back(static_cast<std::int32_t>(p));
    logit_rows_.push_back(std::max(static_cast<std::int32_t>(p) - 1, 0));
  }
  return {{row_, logit_rows_, nullptr}};
}

Rnd1Machine::Proposal Rnd1Machine::propose(std::span<const float> logits, std::int32_t position) const {
  std::vector<double> row(logits.begin(), logits.end());
  row[static_cast<size_t>(options_.mask_token)] = -std::numeric_limits<double>::infinity();
  const size_t likeliest = ops::argmax(std::span<const double>(row));
  for (double& logit : row) logit /= options_.entropy_temperature;
  if (options_.top_k) ops::keep_top_k(row, *options_.top_k);
  if (options_.top_p && *options_.top_p < 1) ops::keep_top_p_above(row, *options_.top_p);
  const auto p = ops::softmax(row);
  const DrawAddress address{DrawStream::kTokenDraw, static_cast<std::uint32_t>(step_),
                            static_cast<std::uint32_t>(position), 0};
  const size_t token =
      options_.temperature > 0 ? ops::categorical(p, uniform(options_.seed, address)) : likeliest;
  double entropy = 0;
  for (const double value : p) entropy -= value > 0 ? value * std::log(value) : 0;
  return {static_cast<std::int32_t>(token), entropy, p[token]};
}

// Numbers of proposals, rising.
std::vector<std::int32_t> Rnd1Machine::within_bound(const std::vector<Proposal>& proposals) const {
  std::vector<std::int32_t> order(proposals.size());
  std::iota(order.begin(), order.end(), 0);
  const auto at = [&](std::int32_t i) -> const Proposal& { return proposals[static_cast<size_t>(i)]; };
  std::stable_sort(order.begin(), order.end(),
                   [&](auto a, auto b) { return at(a).probability > at(b).probability; });
  std::vector<std::int32_t> chosen;
  double sum = 0, largest = 0;
  for (const auto i : order) {
    sum += at(i).entropy;
    largest = std::max(largest, at(i).entropy);
    if (sum - largest <= *options_.entropy_bound) chosen.push_back(i);
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

StepRecord Rnd1Machine::advance(std::span<const LogitRows> logits) {
  StepRecord record{step_, options_.steps, {}};
  std::vector<Proposal> proposals;
  for (size_t i = 0; i < masked_.size(); ++i) proposals.push_back(propose(logits[0].row(i), masked_[i]));
  const std::int64_t to_come = options_.steps - 1 - step_, open = std::ssize(masked_);
  std::vector<std::int32_t> chosen;
  if (options_.entropy_bound && to_come > 0) {
    chosen = within_bound(proposals);
  } else {
    std::vector<Scored> scored;
    for (std::int32_t i = 0; i < open; ++i) scored.push_back({i, -proposals[static_cast<size_t>(i)].entropy});
    chosen = highest(std::move(scored), open - masks_at_start_ * to_come / options_.steps);
  }
  for (const auto i : chosen) {
    const Proposal& one = proposals[static_cast<size_t>(i)];
    reveal(record, masked_[static_cast<size_t>(i)], one.token, one.probability);
  }
  has_masks_ = std::ssize(chosen) < open;
  ++step_;
  return record;
}

}  // namespace buoy::decode
