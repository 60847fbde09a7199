// What the rows that write the answer rest on, followed from token to token through the layers, in the
// forward over the final row.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "buoy/analysis/core/analysis.h"
#include "buoy/analysis/core/quantity_tables.h"
#include "buoy/analysis/rollout/token_rollout.h"
#include "buoy/analysis/sample/answer_span.h"
#include "buoy/analysis/structure/structure_classes.h"
#include "buoy/base/error.h"
#include "buoy/result/schema/rollout.h"
#include "buoy/stats/not_a_number.h"
#include "buoy/trace/rows/answer_rows.h"
#include "buoy/trace/schema.h"

namespace buoy::analysis {
namespace {

constexpr std::int64_t kMostRolledTokens = 2048;  // of each layer a matrix is held

constexpr std::string_view kDenseMeanStem = trace::kDenseMean.substr(0, trace::kDenseMean.find('{'));

enum RolloutQuantity : std::int64_t {
  kToFirst,
  kToPrompt,
  kToGold,
  kToEvidence,
  kReached,
  kRolloutQuantities
};
constexpr std::array<Quantity, kRolloutQuantities> kRolloutMeasures = {{
    {"first", stats::kShares},
    {"prompt", stats::kShares},
    {"gold", stats::kShares},
    {"evidence", stats::kShares},
    {"reached", kAtLeastZero},
}};

double sum_flagged(std::span<const double> at, const std::vector<std::uint8_t>& flags) {
  if (flags.empty()) return stats::kNan;
  double sum = 0;
  for (size_t j = 0; j < at.size(); ++j) sum += flags[j] != 0 ? at[j] : 0;
  return sum;
}

class SampleRollout final : public SampleAnalysis {
 public:
  explicit SampleRollout(const SampleFacts& sample)
      : means({sample.layer_count(), 0, kRolloutQuantities}),
        shares(static_cast<size_t>(sample.tokens)),
        nulls(shares.size()),
        places_(sample),
        weights_(static_cast<size_t>(sample.layer_count())) {}

  void take(const LayerView& layer) override {
    if (!layer.forward.is_final(layer.sample)) return;
    const auto array = trace::array_name(trace::kDenseMean, layer.forward.number, layer.layer());
    if (!layer.sample.has(array)) return;
    const auto weights = layer.floats(array);
    weights_[static_cast<size_t>(layer.l)].assign(weights.begin(), weights.end());
  }

  void finish(const ObservedSample& sample) override {
    const bool whole =
        std::none_of(weights_.begin(), weights_.end(), [](const auto& of) { return of.empty(); });
    if (whole && sample.prompt_length < sample.tokens) follow(sample);
    weights_ = {};
    means.finish();
  }

  void state(StateArchive& archive) override {
    means.state(archive);
    archive.flag(drawn);
    if (!drawn) shares = nulls = {};
    archive.numbers(shares);
    archive.numbers(nulls);
  }

  QuantityMeans means;
  std::vector<float> shares, nulls;  // [tokens], of all layers; dropped when the sample is not drawn
  bool drawn = true;

 private:
  // From the rows that write the answer; of one that ends at once, from its first.
  void follow(const ObservedSample& sample) {
    const std::int64_t end =
        std::clamp(answer_end(sample), sample.prompt_length + 1, std::int64_t{sample.tokens});
    std::vector<std::int64_t> rows;
    for (std::int64_t p = sample.prompt_length; p < end; ++p)
      rows.push_back(trace::row_that_writes(p, sample.prediction_offset));
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    std::vector<double> at(static_cast<size_t>(sample.tokens), 0.0);
    for (const auto row : rows) at[static_cast<size_t>(row)] = 1 / static_cast<double>(rows.size());
    auto even = at;
    for (std::int64_t l = sample.layer_count() - 1; l >= 0; --l) {
      at = rolled(at, weights_[static_cast<size_t>(l)]);
      even = rolled_evenly(even, sample.mask);
      add(sample, l, at, even);
    }
    std::copy(at.begin(), at.end(), shares.begin());
    std::copy(even.begin(), even.end(), nulls.begin());
  }

  void add(const SampleFacts& sample, std::int64_t l, std::span<const double> at,
           std::span<const double> even) {
    const auto prompt = static_cast<size_t>(sample.prompt_length);
    const auto of = [&](std::int64_t quantity, const auto& measure) {
      means.add_whole(l, quantity, {measure(at), measure(even)});
    };
    of(kToFirst, [](auto values) { return values.front(); });
    of(kToPrompt, [&](auto values) {
      double sum = 0;
      for (const double value : values.first(prompt)) sum += value;
      return sum;
    });
    of(kToGold, [&](auto values) { return sum_flagged(values, places_.gold); });
    of(kToEvidence, [&](auto values) { return sum_flagged(values, places_.evidence); });
    of(kReached, [](auto values) {
      double entropy = 0;
      for (const double value : values) entropy -= value > 0 ? value * std::log(value) : 0;
      return std::exp(entropy);
    });
  }

  AnswerPlaces places_;
  std::vector<std::vector<float>> weights_;  // [layers][tokens, tokens], until the sample is over
};

class TokenRollout final : public Analysis {
 public:
  TokenRollout(const TraceFacts& facts, const AnalysisOptions& options)
      : keeps_arrays_(facts.manifest.level == trace::Level::kFull),
        sample_(options.sample),
        axis_(facts.manifest),
        summary_(kRolloutMeasures, options.bootstrap),
        tokens_(schema::rollout_tokens) {}

  std::unique_ptr<SampleAnalysis> begin(const SampleFacts& sample) override {
    if (sample.tokens > kMostRolledTokens) {
      throw_input_error({"sample " + sample.id(),
                         fmt::format("at most {} tokens for a rollout between them", kMostRolledTokens),
                         std::to_string(sample.tokens)});
    }
    const auto is_dense = [](const auto& array) { return array.first.starts_with(kDenseMeanStem); };
    if (keeps_arrays_ && std::none_of(sample.arrays.begin(), sample.arrays.end(), is_dense))
      require_array(sample,
                    trace::array_name(trace::kDenseMean, sample.steps.empty() ? 0 : sample.steps.back(),
                                      sample.layers.empty() ? 0 : sample.layers.back()));
    axis_.take(sample);
    return std::make_unique<SampleRollout>(sample);
  }

  void end(const ObservedSample& sample, SampleAnalysis& given) override {
    auto& kept = dynamic_cast<SampleRollout&>(given);
    summary_.add(sample, kept.means);
    kept.drawn = sample.number == sample_ && std::ssize(kept.shares) == sample.tokens;
    if (!kept.drawn || std::isnan(kept.means.of_layer(0, kReached).value)) return;
    const auto& t = schema::rollout_tokens;
    for (std::int64_t j = 0; j < sample.tokens; ++j) {
      const auto at = static_cast<size_t>(j);
      tokens_.add({{t.sample, sample.id()},
                   {t.position, j},
                   {t.token, sample.has_texts ? sample.token_texts[at] : ""},
                   {t.share, number_cell(kept.shares[at])},
                   {t.null, number_cell(kept.nulls[at])}});
    }
  }

  std::vector<Table> tables() const override {
    return {summary_.layers(schema::rollout_by_layer, axis_), tokens_};
  }

 private:
  bool keeps_arrays_;
  std::int64_t sample_;
  LayerAxis axis_;
  QuantitySummary summary_;
  Table tokens_;
};

}  // namespace

std::unique_ptr<Analysis> make_rollout(const TraceFacts& facts, const AnalysisOptions& options) {
  return std::make_unique<TokenRollout>(facts, options);
}

}  // namespace buoy::analysis
