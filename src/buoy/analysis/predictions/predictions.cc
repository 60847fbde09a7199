// What the model expects while it decodes: how sure it is, when tokens are decided, whether confidence is
// calibrated.

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "buoy/analysis/core/interval_cells.h"
#include "buoy/analysis/predictions/sample_predictions.h"
#include "buoy/result/schema/predictions.h"
#include "buoy/stats/not_a_number.h"
#include "buoy/trace/rows/answer_rows.h"
#include "buoy/trace/schema.h"

namespace buoy::analysis {
namespace {

constexpr std::array<std::string_view, kPredictedStates> kStateNames = {"masked", "revealed"};
constexpr std::array<std::string_view, kPredictedQuantities> kQuantityNames = {"confidence", "entropy",
                                                                               "margin"};
enum Scalar : std::int64_t {
  kReveal,
  kCommitment,
  kLead,
  kLeadSteps,
  kAtOnce,
  kUncommitted,
  kKeptOnTop,
  kRevealConfidence,
  kFinalConfidence,
  kRightAnswer,
  kStepCorrelation,
  kScalars
};
constexpr std::array<std::string_view, kScalars> kScalarNames = {
    "reveal",      "commitment",        "lead",
    "lead_steps",  "at_once",           "uncommitted",
    "kept_on_top", "reveal_confidence", "final_confidence",
    "right",       "step_correlation"};

constexpr std::int64_t kStepReplicates = 200;  // of which there is a set for every step

stats::BootstrapOptions fewer(stats::BootstrapOptions options) {
  options.replicates = std::min(options.replicates, kStepReplicates);
  return options;
}

struct ScalarRange {
  double least = 0, most = 1;
};
// Of what lies in a range: Student's t of a few samples knows no bounds.
IntervalCells bounded_cells(const stats::Estimate& estimate, const ScalarRange& range) {
  return {estimate.value, std::clamp(estimate.lower, range.least, range.most),
          std::clamp(estimate.upper, range.least, range.most)};
}
constexpr double kUnbounded = std::numeric_limits<double>::infinity();

struct Mean {
  double sum = 0, count = 0;
  void add(double value) { sum += value, count += 1; }
  double value() const { return count > 0 ? sum / count : stats::kNan; }
};

// The first observed step that ran the row that writes a slot: where blocks are decoded, the first of its
// own.
std::int32_t first_step_of(const ObservedSample& sample, std::int64_t slot) {
  const auto row = trace::row_that_writes(sample.prompt_length + slot, sample.prediction_offset);
  for (std::int64_t s = 0; s < sample.step_count(); ++s) {
    if (sample.reach_at(s).ran(row)) return sample.steps[static_cast<size_t>(s)];
  }
  return SamplePredictions::kNotObserved;
}

// Of one sample; NaN: not defined.
std::vector<double> scalars_of(const ObservedSample& sample, const SamplePredictions& kept) {
  std::array<Mean, kScalars> means;
  const double run = std::max(1, sample.last_step + 1);  // in steps
  for (std::int64_t slot = 0; slot < kept.tokens(); ++slot) {
    const auto token = kept.token(slot);
    if (token.revealed_at < 0) continue;
    if (!std::isnan(token.at_reveal[kConfidence])) means[kRevealConfidence].add(token.at_reveal[kConfidence]);
    if (!sample.masked_diffusion) continue;
    means[kReveal].add(token.revealed_at / run);
    if (token.committed_at == SamplePredictions::kNotObserved) continue;
    means[kUncommitted].add(token.committed_at < 0 ? 1 : 0);
    means[kAtOnce].add(token.committed_at == first_step_of(sample, slot) ? 1 : 0);
    if (token.committed_at < 0) continue;
    const double lead = token.revealed_at - token.committed_at;
    means[kCommitment].add(token.committed_at / run);
    means[kLead].add(lead / run);
    means[kLeadSteps].add(lead);
  }
  if (kept.revealed > 0) means[kKeptOnTop].add(kept.kept_on_top / kept.revealed);
  if (kept.final_tokens > 0) means[kFinalConfidence].add(kept.final_confidence / kept.final_tokens);
  if (sample.right >= 0) means[kRightAnswer].add(sample.right);
  if (!std::isnan(kept.step_correlation)) means[kStepCorrelation].add(kept.step_correlation);
  std::vector<double> values;
  for (const auto& mean : means) values.push_back(mean.value());
  return values;
}

class Predictions final : public Analysis {
 public:
  Predictions(const TraceFacts&, const AnalysisOptions& options)
      : options_(options),
        scalars_(kScalars, options.bootstrap),
        final_token_(options.bootstrap),
        answer_(options.bootstrap),
        tokens_(schema::predictions_tokens) {}

  std::unique_ptr<SampleAnalysis> begin(const SampleFacts& sample) override {
    for (const auto array : {trace::kPredictedConfidence, trace::kPredictedEntropy, trace::kPredictedMargin,
                             trace::kPredictedTokens})
      require_array(sample, array);
    return std::make_unique<SamplePredictions>(sample);
  }

  void end(const ObservedSample& sample, SampleAnalysis& given) override {
    const auto& kept = dynamic_cast<const SamplePredictions&>(given);
    for (std::int64_t s = 0; s < kept.steps(); ++s) take_step(sample, kept, s);
    const auto scalars = scalars_of(sample, kept);
    scalars_.add(sample.id(), scalars);
    final_token_.add(sample.id(), kept.final_token);
    if (sample.right >= 0 && !std::isnan(scalars[kRevealConfidence])) {
      CalibrationCounts event;
      event.add(scalars[kRevealConfidence], sample.right == 1);
      answer_.add(sample.id(), event);
    }
    if (sample.number == options_.sample) draw(sample, kept);
  }

  std::vector<Table> tables() const override { return {by_step(), summary(), calibration(), tokens_}; }

 private:
  struct Step {
    stats::StreamedBootstrap means;                   // [states, quantities]
    std::array<double, kPredictedStates> count = {};  // positions
  };

  void take_step(const ObservedSample& sample, const SamplePredictions& kept, std::int64_t s) {
    std::vector<double> values;
    for (std::int64_t state = 0; state < kPredictedStates; ++state) {
      for (std::int64_t quantity = 0; quantity < kPredictedQuantities; ++quantity)
        values.push_back(kept.mean(s, PredictedState{state}, PredictedQuantity{quantity}));
    }
    const std::int64_t number = sample.masked_diffusion ? sample.steps[static_cast<size_t>(s)] : s;
    const std::int64_t cells = std::int64_t{kPredictedStates} * kPredictedQuantities;
    auto& step = steps_.try_emplace(number, Step{stats::StreamedBootstrap(cells, fewer(options_.bootstrap))})
                     .first->second;
    step.means.add(sample.id(), values);
    for (std::int64_t state = 0; state < kPredictedStates; ++state)
      step.count[static_cast<size_t>(state)] += kept.count(s, PredictedState{state});
  }

  void draw(const ObservedSample& sample, const SamplePredictions& kept) {
    const auto& t = schema::predictions_tokens;
    const auto whole = [](std::int64_t value) { return value < 0 ? Cell() : Cell(value); };
    for (std::int64_t slot = 0; slot < kept.tokens(); ++slot) {
      const auto token = kept.token(slot);
      const std::int64_t position = sample.prompt_length + slot;
      const bool committed = token.committed_at >= 0;
      tokens_.add({{t.sample, sample.id()},
                   {t.position, position},
                   {t.token, sample.has_texts ? sample.token_texts[static_cast<size_t>(position)] : ""},
                   {t.revealed_at, whole(token.revealed_at)},
                   {t.committed_at, whole(token.committed_at)},
                   {t.lead, committed ? whole(token.revealed_at - token.committed_at) : Cell()},
                   {t.confidence, number_cell(token.at_reveal[kConfidence])},
                   {t.entropy, number_cell(token.at_reveal[kEntropy])},
                   {t.margin, number_cell(token.at_reveal[kMargin])}});
    }
  }

  Table by_step() const {
    const auto& t = schema::predictions_by_step;
    Table table(t);
    for (std::int64_t state = 0; state < kPredictedStates; ++state) {
      for (std::int64_t quantity = 0; quantity < kPredictedQuantities; ++quantity) {
        for (const auto& [number, step] : steps_) {
          const double count = step.count[static_cast<size_t>(state)];
          if (count == 0) continue;
          const stats::Estimate i = step.means.interval(state * kPredictedQuantities + quantity);
          table.add({{t.positions, std::string(kStateNames[static_cast<size_t>(state)])},
                     {t.quantity, std::string(kQuantityNames[static_cast<size_t>(quantity)])},
                     {t.step, number},
                     {t.value, bounded_cells(i, {0, quantity == kEntropy ? kUnbounded : 1.0})},
                     {t.count, static_cast<std::int64_t>(count)},
                     {t.samples, i.samples}});
        }
      }
    }
    return table;
  }

  Table summary() const {
    const auto& t = schema::predictions_summary;
    Table table(t);
    for (std::int64_t i = 0; i < kScalars; ++i) {
      const stats::Estimate value = scalars_.interval(i);
      const ScalarRange range =
          i == kStepCorrelation ? ScalarRange{-1, 1} : ScalarRange{0, i == kLeadSteps ? kUnbounded : 1.0};
      table.add({{t.scalar, std::string(kScalarNames[static_cast<size_t>(i)])},
                 {t.value, bounded_cells(value, range)},
                 {t.null, i == kStepCorrelation ? Cell(0.0) : Cell()},
                 {t.samples, value.samples}});
    }
    for (const auto& [name, calibration] :
         {std::pair{"ece_final_token", &final_token_}, std::pair{"ece_answer", &answer_}}) {
      table.add({{t.scalar, name},
                 {t.value, bounded_cells(calibration->expected_error(), {0, 1})},
                 {t.null, number_cell(calibration->null_error())},
                 {t.samples, calibration->samples()}});
    }
    return table;
  }

  Table calibration() const {
    const auto& t = schema::predictions_calibration;
    Table table(t);
    for (const auto& [name, calibration] :
         {std::pair{"final_token", &final_token_}, std::pair{"answer", &answer_}}) {
      for (std::int64_t b = 0; b < kConfidenceBins && calibration->samples() > 0; ++b) {
        const auto bin = calibration->bin(b);
        table.add({{t.against, name},
                   {t.bin, b},
                   {t.confidence, number_cell(bin.events > 0 ? bin.confidence : stats::kNan)},
                   {t.right, interval_cells(bin.right)},
                   {t.events, static_cast<std::int64_t>(bin.events)},
                   {t.samples, calibration->samples()}});
      }
    }
    return table;
  }

  AnalysisOptions options_;
  std::map<std::int64_t, Step> steps_;  // by number
  stats::StreamedBootstrap scalars_;
  Calibration final_token_, answer_;
  Table tokens_;
};

}  // namespace

std::unique_ptr<Analysis> make_predictions(const TraceFacts& facts, const AnalysisOptions& options) {
  return std::make_unique<Predictions>(facts, options);
}

}  // namespace buoy::analysis
