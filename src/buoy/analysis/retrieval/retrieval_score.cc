#include "buoy/analysis/retrieval/retrieval_score.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "buoy/analysis/core/extent.h"
#include "buoy/analysis/sample/answer_span.h"
#include "buoy/trace/schema.h"

namespace buoy::analysis {
namespace {

// The observed step whose forward committed a position: an autoregressive trace has one pass over all.
std::int64_t step_of(const ObservedSample& sample, std::int64_t position) {
  if (!sample.masked_diffusion) return 0;
  return sample.index_of_step(sample.revealed_at[static_cast<size_t>(position)]);
}

void set_chances(const ObservedSample& sample, RetrievalTest& test) {
  std::map<std::int32_t, double> missed;  // that an even arg-max never copies the token
  for (auto& token : test.tokens) {
    const auto keys = static_cast<double>(token.keys);
    const std::int64_t last = token.keys - 1;
    token.hit_chance = static_cast<double>(test.needle.places_up_to(last)) / keys;
    token.strict_chance = static_cast<double>(test.needle.places_of(sample, token.token, last)) / keys;
    test.strict_expected += token.strict_chance;
    test.hits_expected += token.hit_chance;
    missed.try_emplace(token.token, 1.0).first->second *= 1 - token.strict_chance;
  }
  for (const auto& [token, chance] : missed)
    test.set_chance += (1 - chance) / static_cast<double>(test.needle.contents.size());
  test.added_chance = test.strict_expected / static_cast<double>(test.needle.length);
}

}  // namespace

RetrievalTest make_retrieval_test(const ObservedSample& sample) {
  RetrievalTest test;
  test.needle = find_needle(sample);
  if (test.needle.positions.empty()) return test;
  const auto& rows = sample.row_positions;
  const std::int64_t end = answer_end(sample);
  test.left_out.behind_end = sample.tokens - end;
  std::vector<std::int32_t> answer;
  for (std::int64_t p = sample.prompt_length; p < end; ++p) {
    if (sample.masked_diffusion && sample.revealed_at[static_cast<size_t>(p)] < 0) {
      ++test.left_out.not_revealed;
      continue;
    }
    CommittedToken token;
    token.position = p;
    token.token = sample.final_row[static_cast<size_t>(p)];
    answer.push_back(token.token);
    token.step = step_of(sample, p);
    token.query = trace::row_that_writes(p, sample.prediction_offset);
    const auto row = std::lower_bound(rows.begin(), rows.end(), static_cast<std::int32_t>(token.query));
    token.row = row - rows.begin();
    const Reach reach = token.step >= 0 ? sample.reach_at(token.step) : whole_row(sample.mask, sample.tokens);
    token.keys = reach.keys_of(token.query);
    const bool row_seen = row != rows.end() && *row == token.query && reach.ran(token.query);
    test.left_out.step_unseen += token.step < 0;
    test.left_out.row_unseen += token.step >= 0 && !row_seen;
    if (token.step >= 0 && row_seen) test.tokens.push_back(token);
  }
  test.recall = needle_recall(test.needle, answer);
  set_chances(sample, test);
  return test;
}

RetrievalRows::RetrievalRows(const SampleFacts& sample)
    : layers_(sample.layer_count()), heads_(sample.heads), tokens_(sample.tokens) {
  require_shape(sample, trace::kEvidence, {sample.tokens});
  has_evidence_ = std::any_of(sample.evidence.begin(), sample.evidence.end(), [](auto f) { return f != 0; });
  if (!has_evidence_) return;
  require_array(sample, trace::kTopKeys);
  require_array(sample, trace::kRowPositions);
  const std::int64_t S = sample.observed_count(), R = std::ssize(sample.row_positions);
  require_shape(sample, trace::kTopKeys, {S, layers_, R, heads_, -1});
  require_shape(sample, trace::kEvidenceMass, {S, layers_, R, heads_});
  kept_.resize(static_cast<size_t>(sample.step_count() * layers_));
  scored_.resize(static_cast<size_t>(layers_ * heads_));
}

void RetrievalRows::take(const LayerView& layer) {
  if (!has_evidence_ || !layer.forward.is_step) return;
  Layer& to = kept_[static_cast<size_t>(layer.s() * layers_ + layer.l)];
  const auto mass = layer.floats(trace::kEvidenceMass);
  to.mass.assign(mass.begin(), mass.end());
  const auto keys = layer.integers(trace::kTopKeys);  // [rows, heads, top]
  const auto top = static_cast<size_t>(layer.sample.shape(trace::kTopKeys)[4]);
  to.strongest.assign(mass.size(), -1);
  for (size_t i = 0; top > 0 && i < to.strongest.size(); ++i) to.strongest[i] = keys[i * top];
}

std::span<const std::int32_t> RetrievalRows::strongest(std::int64_t s, std::int64_t l,
                                                       std::int64_t row) const {
  return std::span(kept_[static_cast<size_t>(s * layers_ + l)].strongest)
      .subspan(static_cast<size_t>(row * heads_), static_cast<size_t>(heads_));
}

std::span<const float> RetrievalRows::mass(std::int64_t s, std::int64_t l, std::int64_t row) const {
  return std::span(kept_[static_cast<size_t>(s * layers_ + l)].mass)
      .subspan(static_cast<size_t>(row * heads_), static_cast<size_t>(heads_));
}

std::vector<HeadTest> RetrievalRows::score_layer(const ObservedSample& sample, const RetrievalTest& test,
                                                 std::int64_t l) const {
  std::vector<HeadTest> out(static_cast<size_t>(heads_));
  std::vector<std::set<std::int32_t>> copied(out.size());
  const auto count = static_cast<double>(test.tokens.size());
  for (const auto& token : test.tokens) {
    const auto& row_at_step = sample.row_at(token.step);
    const auto on_evidence = mass(token.step, l, token.row);
    const auto keys = strongest(token.step, l, token.row);
    for (size_t h = 0; h < out.size(); ++h) {
      const std::int64_t j = keys[h];
      Target target = Target::kOther;
      if (test.needle.holds(j)) {
        const bool match = sample.final_row[static_cast<size_t>(j)] == token.token;
        target = match ? Target::kStrictHit : Target::kNeedle;
        if (match) copied[h].insert(token.token);
      } else if (j == 0) {
        target = Target::kFirst;
      } else if (j == token.query) {
        target = Target::kSelf;
      } else if (j > 0 && j < sample.tokens && sample.mask_token >= 0 &&
                 row_at_step[static_cast<size_t>(j)] == sample.mask_token) {
        target = Target::kMask;
      }
      ++out[h].targets[static_cast<size_t>(target)];
      out[h].mass += static_cast<double>(on_evidence[h]) / count;
    }
  }
  for (size_t h = 0; h < out.size(); ++h) {
    out[h].set_score =
        static_cast<double>(copied[h].size()) / static_cast<double>(test.needle.contents.size());
    out[h].added_score = static_cast<double>(out[h].strict_hits()) / static_cast<double>(test.needle.length);
  }
  return out;
}

void RetrievalRows::finish_layer(const ObservedSample& sample, std::int64_t l) {
  if (!has_evidence_) return;
  const RetrievalTest test = make_retrieval_test(sample);
  if (!test.tokens.empty()) {
    const auto scored = score_layer(sample, test, l);
    std::copy(scored.begin(), scored.end(), scored_.begin() + l * heads_);
  }
  for (std::int64_t s = 0; s < sample.step_count(); ++s) kept_[static_cast<size_t>(s * layers_ + l)] = {};
}

void RetrievalRows::state(StateArchive& archive) {
  for (auto& head : scored_) {
    archive.number(head.set_score);
    archive.number(head.added_score);
    archive.number(head.mass);
    for (auto& count : head.targets) archive.number(count, 0, tokens_);
  }
}

std::vector<HeadTest> score_heads(const ObservedSample& sample, const RetrievalTest& test,
                                  const RetrievalRows& rows) {
  std::vector<HeadTest> out;
  for (std::int64_t l = 0; l < sample.layer_count(); ++l) {
    const auto layer = rows.score_layer(sample, test, l);
    out.insert(out.end(), layer.begin(), layer.end());
  }
  return out;
}

double poisson_tail(std::int64_t count, double mean) {
  if (count <= 0) return 1;
  if (mean <= 0) return 0;
  // Above the mean the tail is summed upwards from its largest term, so that tiny chances keep their digits.
  const auto term = [&](double k) { return std::exp(k * std::log(mean) - mean - std::lgamma(k + 1)); };
  if (static_cast<double>(count) > mean) {
    double sum = 0, now = term(static_cast<double>(count));
    std::int64_t k = count;
    while (now > sum * 1e-17) {
      sum += now;
      now *= mean / static_cast<double>(++k);
    }
    return std::min(1.0, sum);
  }
  double below = 0;
  for (std::int64_t k = 0; k < count; ++k) below += term(static_cast<double>(k));
  return std::clamp(1 - below, 0.0, 1.0);
}

}  // namespace buoy::analysis
