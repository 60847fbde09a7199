// What routers of mixtures of experts do while a model decodes: load, how tokens change their experts from
// step to step, and what experts are specialised in.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "buoy/analysis/core/axes.h"
#include "buoy/analysis/core/interval_cells.h"
#include "buoy/analysis/routing/sample_routing.h"
#include "buoy/base/error.h"
#include "buoy/result/schema/routing.h"
#include "buoy/trace/schema.h"

namespace buoy::analysis {
namespace {

constexpr std::int64_t kParts = 3;  // value, null, value less null

void append_parts(std::vector<double>& values, const WithNull& measured) {
  values.insert(values.end(), {measured.value, measured.null, measured.value - measured.null});
}

class Routing final : public Analysis {
 public:
  Routing(const TraceFacts& facts, const AnalysisOptions& options)
      : options_(options.bootstrap), axis_(facts.manifest) {}

  std::unique_ptr<SampleAnalysis> begin(const SampleFacts& sample) override {
    for (const auto array :
         {trace::kRoutedExperts, trace::kRoutedWeights, trace::kRouterEntropy, trace::kExpertLoad})
      require_array(sample, array);
    axis_.take(sample);
    return std::make_unique<SampleRouting>(sample);
  }

  void end(const ObservedSample& sample, SampleAnalysis& given) override {
    const auto& kept = dynamic_cast<const SampleRouting&>(given);
    std::vector<double> by_layer, by_bin;
    for (std::int64_t l = 0; l < axis_.size(); ++l) {
      for (std::int64_t q = 0; q < kRoutingQuantities; ++q) append_parts(by_layer, kept.of_layer(l, q));
    }
    for (std::int64_t bin = 0; bin < kStepBins; ++bin) {
      for (std::int64_t q = 0; q < kRoutingQuantities; ++q) append_parts(by_bin, kept.of_bin(bin, q));
    }
    if (!by_layer_) by_layer_.emplace(std::ssize(by_layer), options_);
    if (!by_bin_) by_bin_.emplace(std::ssize(by_bin), options_);
    by_layer_->add(sample.id(), by_layer);
    by_bin_->add(sample.id(), by_bin);
    add_load(sample, kept);
  }

  std::vector<Table> tables() const override { return {layers(), bins(), load()}; }

 private:
  void add_load(const ObservedSample& sample, const SampleRouting& kept) {
    if (experts_ != 0 && kept.experts() != experts_) {
      throw_input_error({"sample " + sample.id(), fmt::format("{} experts as in the first sample", experts_),
                         std::to_string(kept.experts())});
    }
    experts_ = kept.experts();
    shares_.resize(kept.load().size(), 0.0);
    samples_.resize(static_cast<size_t>(axis_.size()), 0);
    for (std::int64_t l = 0; l < axis_.size(); ++l) {
      const auto first = kept.load().begin() + l * experts_;
      const double all = std::accumulate(first, first + experts_, 0.0);
      if (all == 0) continue;
      ++samples_[static_cast<size_t>(l)];
      for (std::int64_t e = 0; e < experts_; ++e)
        shares_[static_cast<size_t>(l * experts_ + e)] += *(first + e) / all;
    }
  }

  Table layers() const {
    const auto& t = schema::routing_by_layer;
    Table table(t);
    for (std::int64_t l = 0; by_layer_ && l < axis_.size(); ++l) {
      for (std::int64_t q = 0; q < kRoutingQuantities; ++q) {
        const std::int64_t cell = (l * kRoutingQuantities + q) * kParts;
        const stats::Estimate value = by_layer_->interval(cell);
        if (value.samples == 0) continue;
        table.add({{t.layer, axis_.number(l)},
                   {t.quantity, std::string(kRoutingNames[static_cast<size_t>(q)])},
                   {t.value, interval_cells(value)},
                   {t.null, number_cell(by_layer_->mean(cell + 1))},
                   {t.excess, interval_cells(by_layer_->interval(cell + 2))},
                   {t.samples, value.samples}});
      }
    }
    return table;
  }

  Table bins() const {
    const auto& t = schema::routing_by_step;
    Table table(t);
    for (std::int64_t q = 0; q < kRoutingQuantities; ++q) {
      for (std::int64_t bin = 0; by_bin_ && bin < kStepBins; ++bin) {
        const std::int64_t cell = (bin * kRoutingQuantities + q) * kParts;
        const stats::Estimate value = by_bin_->interval(cell);
        if (value.samples == 0) continue;
        table.add({{t.quantity, std::string(kRoutingNames[static_cast<size_t>(q)])},
                   {t.step_bin, bin},
                   {t.value, interval_cells(value)},
                   {t.null, number_cell(by_bin_->mean(cell + 1))},
                   {t.excess, interval_cells(by_bin_->interval(cell + 2))},
                   {t.samples, value.samples}});
      }
    }
    return table;
  }

  Table load() const {
    const auto& t = schema::routing_load;
    Table table(t);
    for (std::int64_t l = 0; l < std::ssize(samples_); ++l) {
      const std::int64_t samples = samples_[static_cast<size_t>(l)];
      for (std::int64_t e = 0; e < experts_ && samples > 0; ++e) {
        table.add({{t.layer, axis_.number(l)},
                   {t.expert, e},
                   {t.share, number_cell(shares_[static_cast<size_t>(l * experts_ + e)] /
                                         static_cast<double>(samples))},
                   {t.even, number_cell(1 / static_cast<double>(experts_))},
                   {t.samples, samples}});
      }
    }
    return table;
  }

  stats::BootstrapOptions options_;
  LayerAxis axis_;
  std::optional<stats::StreamedBootstrap> by_layer_, by_bin_;  // [layers or bins, quantities, kParts]
  std::int64_t experts_ = 0;
  std::vector<double> shares_;         // [layers, experts], sums over samples
  std::vector<std::int64_t> samples_;  // [layers]
};

}  // namespace

std::unique_ptr<Analysis> make_routing(const TraceFacts& facts, const AnalysisOptions& options) {
  return std::make_unique<Routing>(facts, options);
}

}  // namespace buoy::analysis
