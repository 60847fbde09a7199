#include "buoy/analysis/retrieval/retrieval_sums.h"

#include <algorithm>
#include <cmath>

#include "buoy/stats/not_a_number.h"

namespace buoy::analysis {
namespace {

constexpr double kGate = 0.5;  // Wu's: ROUGE-1 recall above this

// Cells times replicates stay near a million.
stats::BootstrapOptions for_heads(stats::BootstrapOptions options, std::int64_t heads) {
  const std::int64_t cells = std::max<std::int64_t>(1, RetrievalSums::kScores * heads);
  options.replicates = std::min(options.replicates, std::clamp<std::int64_t>(1'000'000 / cells, 50, 200));
  return options;
}

}  // namespace

RetrievalSums::RetrievalSums(const trace::ModelCard& model, const stats::BootstrapOptions& options)
    : layers_(model.layers),
      heads_(model.heads),
      head_scores_(layers_ * heads_ * kScores, for_heads(options, layers_ * heads_)),
      layer_scores_(layers_ * kScores, options),
      extras_(layers_ * heads_ * kExtras),
      chances_(kChances),
      strict_hits_(static_cast<size_t>(layers_ * heads_), 0),
      hits_(strict_hits_) {}

void RetrievalSums::add(const ObservedSample& sample, const RetrievalRows& rows) {
  const RetrievalTest test = make_retrieval_test(sample);
  no_evidence_ += test.needle.positions.empty();
  left_out_.behind_end += test.left_out.behind_end;
  left_out_.not_revealed += test.left_out.not_revealed;
  left_out_.step_unseen += test.left_out.step_unseen;
  left_out_.row_unseen += test.left_out.row_unseen;
  if (test.tokens.empty()) {
    no_tokens_ += !test.needle.positions.empty();
    return;
  }
  ++tests_;
  const bool passed = test.recall > kGate;
  passed_ += passed;
  tokens_ += static_cast<std::int64_t>(test.tokens.size());
  needle_tokens_ += test.needle.length;
  strict_expected_ += test.strict_expected;
  hits_expected_ += test.hits_expected;
  const auto tokens = static_cast<double>(test.tokens.size());
  chances_.add(kSetChance, test.set_chance);
  chances_.add(kAddedChance, test.added_chance);
  chances_.add(kHitChance, test.hits_expected / tokens);
  chances_.add(kSetChanceGated, passed ? test.set_chance : stats::kNan);
  chances_.add(kAddedChanceGated, passed ? test.added_chance : stats::kNan);
  std::vector<double> by_head(static_cast<size_t>(head_scores_.cells()), stats::kNan);
  std::vector<double> by_layer(static_cast<size_t>(layer_scores_.cells()), stats::kNan);
  const auto& scored = rows.heads();
  for (size_t i = 0; i < scored.size(); ++i) {
    const std::int64_t layer = sample.layers[i / static_cast<size_t>(heads_)];
    const std::int64_t head = layer * heads_ + static_cast<std::int64_t>(i) % heads_;
    const HeadTest& of = scored[i];
    const std::array values = {of.set_score, of.added_score, static_cast<double>(of.hits()) / tokens,
                               of.mass};
    for (int score = 0; score < kScores; ++score) {
      by_head[static_cast<size_t>(head * kScores + score)] = values[static_cast<size_t>(score)];
      double& mean = by_layer[static_cast<size_t>(layer * kScores + score)];
      mean = (std::isnan(mean) ? 0 : mean) + values[static_cast<size_t>(score)] / static_cast<double>(heads_);
    }
    const std::int64_t extra = head * kExtras;
    extras_.add(extra + kSetGated, passed ? of.set_score : stats::kNan);
    extras_.add(extra + kAddedGated, passed ? of.added_score : stats::kNan);
    extras_.add(extra + kActive, of.strict_hits() > 0);
    for (int target = 0; target < static_cast<int>(Target::kCount); ++target)
      extras_.add(extra + kTargets + target, static_cast<double>(of.targets[target]) / tokens);
    strict_hits_[static_cast<size_t>(head)] += of.strict_hits();
    hits_[static_cast<size_t>(head)] += of.hits();
  }
  head_scores_.add(sample.id(), by_head);
  layer_scores_.add(sample.id(), by_layer);
}

}  // namespace buoy::analysis
