#include "buoy/decode/dream.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "buoy/base/error.h"
#include "buoy/base/field_name.h"
#include "buoy/base/random.h"
#include "buoy/model/block_grid.h"
#include "buoy/ops/sampling/sampling.h"

namespace buoy::decode {
namespace {

double confidence_of(DreamAlgorithm algorithm, const std::vector<double>& p, size_t token) {
  switch (algorithm) {
    case DreamAlgorithm::kTopkMargin: {
      std::vector<double> sorted = p;
      if (sorted.size() < 2) return sorted[0];
      std::partial_sort(sorted.begin(), sorted.begin() + 2, sorted.end(), std::greater<>());
      return sorted[0] - sorted[1];
    }
    case DreamAlgorithm::kEntropy: {
      double negative_entropy = 0;
      for (const double value : p) negative_entropy += value * std::log(value + 1e-10);
      return negative_entropy;
    }
    case DreamAlgorithm::kOrigin:
    case DreamAlgorithm::kMaskgitPlus:
    case DreamAlgorithm::kP2:
      return p[token];
  }
  return 0;
}

DreamAlgorithm dream_algorithm(const std::string& name, bool open_dcoder) {
  if (open_dcoder && name == "p2") return DreamAlgorithm::kP2;
  if (name == "origin") return DreamAlgorithm::kOrigin;
  if (name == "maskgit_plus") return DreamAlgorithm::kMaskgitPlus;
  if (name == "topk_margin") return DreamAlgorithm::kTopkMargin;
  if (name == "entropy") return DreamAlgorithm::kEntropy;
  throw_usage_error(
      {field_name("algorithm"),
       std::string("one of origin, maskgit_plus, topk_margin, entropy") + (open_dcoder ? ", p2" : ""),
       '"' + name + '"'});
}

DreamOptions options_of_both(const DecodeOptions& o, const char* algorithm, bool open_dcoder) {
  DreamOptions options;
  options.max_new_tokens = o.max_new_tokens;
  options.steps = o.steps.value_or(o.max_new_tokens);
  options.algorithm = dream_algorithm(o.algorithm.value_or(algorithm), open_dcoder);
  options.temperature = o.temperature;
  options.top_p = o.top_p;
  options.top_k = o.top_k;
  options.alg_temp = o.alg_temp.value_or(0);
  options.eps = o.eps.value_or(1e-3);
  options.mask_token = o.mask_token.value();
  options.open_dcoder = options.forbid_mask = open_dcoder;
  options.seed = o.seed;
  return options;
}

}  // namespace

DreamOptions dream_options(const DecodeOptions& o) {
  return options_of_both(o, "origin", false);
}

DreamOptions open_dcoder_options(const DecodeOptions& o) {
  return options_of_both(o, "entropy", true);
}

void check_options(const DreamOptions& options) {
  check_bounds("max_new_tokens", options.max_new_tokens);
  check_bounds("steps", options.steps);
  check_bounds("temperature", options.temperature);
  if (options.top_p) check_bounds("top_p", *options.top_p);
  if (options.top_k) check_bounds("top_k", static_cast<double>(*options.top_k));
  check_bounds("alg_temp", options.alg_temp);
  check_bounds("eps", options.eps);
}

// torch.linspace: from the near end in each half, so that both ends are exact.
std::vector<float> dream_schedule(std::int32_t steps, double eps) {
  const float end = static_cast<float>(eps);
  const float step = (end - 1.0f) / static_cast<float>(steps);
  std::vector<float> times;
  for (std::int32_t i = 0; i <= steps; ++i) {
    times.push_back(i < (steps + 1) / 2 ? 1.0f + static_cast<float>(i) * step
                                        : end - static_cast<float>(steps - i) * step);
  }
  return times;
}

DreamMachine::DreamMachine(std::span<const std::int32_t> prompt, const DreamOptions& options)
    : StepMachine(prompt, options.max_new_tokens), options_(options) {
  check_options(options);
  times_ = dream_schedule(options.steps, options.eps);
  row_.insert(row_.end(), static_cast<size_t>(options.max_new_tokens), options.mask_token);
  revealed_at_.resize(row_.size(), -1);
  for (size_t p = 0; p < row_.size(); ++p) {
    if (row_[p] == options.mask_token) free_.push_back(static_cast<std::int32_t>(p));
  }
}

std::optional<model::BlockGrid> DreamMachine::row_grid() const {
  if (!options_.open_dcoder) return std::nullopt;
  return model::whole_sequence();
}

std::vector<model::SequenceInput> DreamMachine::next_forwards() {
  masked_.clear();
  logit_rows_.clear();
  const bool all = options_.algorithm == DreamAlgorithm::kP2;
  for (const auto p : free_) {
    if (!all && row_[static_cast<size_t>(p)] != options_.mask_token) continue;
    masked_.push_back(p);
    logit_rows_.push_back(std::max(p - 1, 0));
  }
  model::SequenceInput forward{row_, logit_rows_, nullptr};
  forward.grid = row_grid();
  return {forward};
}

float DreamMachine::reveal_share() const {
  const auto i = static_cast<size_t>(step_);
  return step_ + 1 < options_.steps ? 1.0f - times_[i + 1] / times_[i] : 1.0f;
}

DreamMachine::Proposal DreamMachine::propose(std::span<const float> logits, std::int32_t position) const {
  std::vector<double> row(logits.begin(), logits.end());
  if (options_.forbid_mask)
    row[static_cast<size_t>(options_.mask_token)] = -std::numeric_limits<double>::infinity();
  if (options_.temperature > 0) {
    for (double& logit : row) logit /= options_.temperature;
  }
  if (options_.top_p && *options_.top_p < 1) ops::keep_top_p_above(row, *options_.top_p);
  if (options_.top_k) ops::keep_top_k(row, *options_.top_k);
  const auto p = ops::softmax(row);
  const DrawAddress address{DrawStream::kTokenDraw, static_cast<std::uint32_t>(step_),
                            static_cast<std::uint32_t>(position), 0};
  const size_t token = options_.temperature > 0 ? ops::categorical(p, uniform(options_.seed, address))
                                                : ops::argmax(std::span<const double>(p));
  return {position, static_cast<std::int32_t>(token), confidence_of(options_.algorithm, p, token)};
}

StepRecord DreamMachine::advance(std::span<const LogitRows> logits) {
  return settle([&](size_t i) { return propose(logits[0].row(i), masked_[i]); });
}

std::optional<std::vector<ops::ChoiceRule>> DreamMachine::choice_rules() const {
  if (options_.top_k || (options_.top_p && *options_.top_p < 1)) return std::nullopt;
  std::vector<ops::ChoiceRule> rules;
  for (const auto position : masked_) {
    ops::ChoiceRule& rule = rules.emplace_back();
    if (options_.forbid_mask) rule.forbidden = options_.mask_token;
    if (options_.temperature > 0) {
      rule.draw = ops::ChoiceRule::Draw::kProportional;
      rule.temperature = options_.temperature;
      rule.seed = options_.seed;
      rule.address = {DrawStream::kTokenDraw, static_cast<std::uint32_t>(step_),
                      static_cast<std::uint32_t>(position), 0};
    }
    if (options_.algorithm == DreamAlgorithm::kTopkMargin) rule.measure = ops::ChoiceRule::Measure::kMargin;
    if (options_.algorithm == DreamAlgorithm::kEntropy)
      rule.measure = ops::ChoiceRule::Measure::kNegativeEntropy;
  }
  return rules;
}

StepRecord DreamMachine::advance_chosen(std::span<const ops::RowChoice> choices) {
  BUOY_CHECK(choices.size() == masked_.size());
  return settle([&](size_t i) { return Proposal{masked_[i], choices[i].token, choices[i].confidence}; });
}

StepRecord DreamMachine::advance_edited(std::span<const Edit> edits) {
  auto record = edit_masked_row(edits, options_.mask_token, options_.steps);
  full_ = std::find(row_.begin(), row_.end(), options_.mask_token) == row_.end();
  return record;
}

// Of n free positions the floor(n (1 - (step + 1) / steps)) least probable ones are hidden.
StepRecord DreamMachine::settle_p2(const std::function<Proposal(size_t place)>& propose_at) {
  StepRecord record{step_, options_.steps, {}};
  std::vector<Proposal> proposals;
  std::vector<Scored> scored;
  for (size_t i = 0; i < masked_.size(); ++i) {
    proposals.push_back(propose_at(i));
    scored.push_back({masked_[i], proposals[i].confidence});
  }
  const std::int64_t all = std::ssize(free_), hidden = all * (options_.steps - step_ - 1) / options_.steps;
  const auto shown = highest(std::move(scored), all - hidden);
  for (const Proposal& proposal : proposals) {
    const bool was_masked = row_[static_cast<size_t>(proposal.position)] == options_.mask_token;
    if (std::binary_search(shown.begin(), shown.end(), proposal.position)) {
      if (was_masked) reveal(record, proposal.position, proposal.token, proposal.confidence);
    } else if (!was_masked) {
      hide(record, proposal.position, options_.mask_token);
    }
  }
  full_ = hidden == 0;
  ++step_;
  return record;
}

StepRecord DreamMachine::settle(const std::function<Proposal(size_t masked)>& propose_at) {
  if (options_.algorithm == DreamAlgorithm::kP2) return settle_p2(propose_at);
  StepRecord record{step_, options_.steps, {}};
  const float share = reveal_share();
  const auto draw = [&](DrawStream stream, std::int32_t position) {
    return uniform(options_.seed,
                   {stream, static_cast<std::uint32_t>(step_), static_cast<std::uint32_t>(position), 0});
  };

  std::vector<Proposal> proposals;
  std::vector<std::int32_t> chosen;
  if (options_.algorithm == DreamAlgorithm::kOrigin) {
    for (size_t i = 0; i < masked_.size(); ++i) {
      if (!(draw(DrawStream::kTransfer, masked_[i]) < share)) continue;
      proposals.push_back(propose_at(i));
      chosen.push_back(masked_[i]);
    }
  } else {
    const auto count = static_cast<std::int64_t>(static_cast<float>(masked_.size()) * share);
    std::vector<Scored> scored;
    for (size_t i = 0; i < masked_.size() && count > 0; ++i) {
      proposals.push_back(propose_at(i));
      const double noise = options_.alg_temp > 0 ? gumbel(draw(DrawStream::kOrderNoise, masked_[i])) : 0;
      const double scale = options_.alg_temp > 0 ? options_.alg_temp : 1;
      scored.push_back({masked_[i], proposals[i].confidence / scale + noise});
    }
    chosen = highest(std::move(scored), count);
  }

  for (const Proposal& proposal : proposals) {
    if (!std::binary_search(chosen.begin(), chosen.end(), proposal.position)) continue;
    if (proposal.token != options_.mask_token)
      reveal(record, proposal.position, proposal.token, proposal.confidence);
  }
  full_ = record.reveals.size() == masked_.size();
  ++step_;
  return record;
}

}  // namespace buoy::decode
