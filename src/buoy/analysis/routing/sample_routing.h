#pragma once

#include <vector>

#include "buoy/analysis/core/analysis.h"
#include "buoy/analysis/routing/routing_measures.h"

namespace buoy::analysis {

// What is kept of the routers of one sample: sums over its steps, by layer, and by layer and part of the run.
class SampleRouting final : public SampleAnalysis {
 public:
  explicit SampleRouting(const SampleFacts& sample);

  void take(const LayerView& layer) override;
  void state(StateArchive& archive) override;

  // Mean over the steps; NaN: not defined at any.
  WithNull of_layer(std::int64_t l, std::int64_t quantity) const;
  // Mean over the layers of the means over the steps of a bin.
  WithNull of_bin(std::int64_t bin, std::int64_t quantity) const;
  // Choices of an expert, all steps; 0 everywhere: the layer has none.
  const std::vector<double>& load() const { return load_; }  // [layers, experts]
  std::int64_t experts() const { return experts_; }

 private:
  struct Previous {
    std::vector<std::int32_t> experts;
    std::vector<std::uint8_t> masked;
  };

  void add(const LayerView& layer, std::int64_t quantity, const WithNull& measured);
  void take_changes(const LayerView& layer, const Routes& now);
  WithNull mean_at(std::size_t cell) const;

  std::int64_t layers_, experts_, chosen_;
  // [layers, bins, quantities]: sums and how many steps there are in them.
  std::vector<double> values_, nulls_, counts_;
  std::vector<double> load_;
  std::vector<Previous> previous_;  // of each layer; not part of the state
};

}  // namespace buoy::analysis
