#pragma once

#include <vector>

#include "buoy/analysis/core/analysis.h"
#include "buoy/analysis/routing/routing_measures.h"

namespace buoy::analysis {

// What is kept of the routers of one sample: means over its steps by layer, and along the run over all
// layers.
class SampleRouting final : public SampleAnalysis {
 public:
  explicit SampleRouting(const SampleFacts& sample);

  void take(const LayerView& layer) override;
  void finish(const ObservedSample& sample) override;
  void state(StateArchive& archive) override;

  // Mean over the steps; NaN: not defined at any.
  WithNull of_layer(std::int64_t l, std::int64_t quantity) const { return by_layer_.at(l, quantity); }
  // Mean over the layers of the means over the steps of a bin.
  WithNull of_bin(std::int64_t bin, std::int64_t quantity) const { return by_bin_.at(bin, quantity); }
  // Choices of an expert, all steps; 0 everywhere: the layer has none.
  const std::vector<double>& load() const { return load_; }  // [layers, experts]
  std::int64_t experts() const { return experts_; }

 private:
  struct Previous {
    std::vector<std::int32_t> experts;
    std::vector<std::uint8_t> masked;
  };

  // [places, quantities]
  struct Means {
    std::vector<double> values, nulls;

    WithNull at(std::int64_t place, std::int64_t quantity) const {
      const auto cell = static_cast<std::size_t>(place * kRoutingQuantities + quantity);
      return {values[cell], nulls[cell]};
    }
    void add(const WithNull& mean) {
      values.push_back(mean.value);
      nulls.push_back(mean.null);
    }
  };

  static Means empty_means(std::int64_t places);
  void add(const LayerView& layer, std::int64_t quantity, const WithNull& measured);
  void take_changes(const LayerView& layer, const Routes& now);
  WithNull mean_of_layer(std::int64_t l, std::int64_t quantity) const;
  WithNull mean_of_bin(std::int64_t bin, std::int64_t quantity) const;

  std::int64_t layers_, experts_, chosen_;
  Means by_layer_, by_bin_;
  std::vector<double> load_;
  // While forwards come: sums and how many steps there are in them, [layers, bins, quantities]; what the
  // layer saw last.
  std::vector<double> values_, nulls_, counts_;
  std::vector<Previous> previous_;
};

}  // namespace buoy::analysis
