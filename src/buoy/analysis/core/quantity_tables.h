#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "buoy/analysis/core/quantities.h"
#include "buoy/analysis/sample/observed_sample.h"
#include "buoy/result/schema/quantities.h"
#include "buoy/result/table.h"
#include "buoy/stats/moments.h"
#include "buoy/stats/streamed_bootstrap.h"

namespace buoy::analysis {

// The quantities of all samples, as tables that say them by layer, along the run and by head.
class QuantitySummary {
 public:
  QuantitySummary(std::span<const Quantity> quantities, const stats::BootstrapOptions& options)
      : quantities_(quantities), options_(options) {}

  void add(const ObservedSample& sample, const QuantityMeans& means);

  Table layers(const schema::QuantityByLayer& t, const LayerAxis& axis) const;
  Table steps(const schema::QuantityByStep& t) const;
  Table heads(const schema::QuantityByHead& t, const LayerAxis& axis) const;

 private:
  // Of many cells: means of values with intervals, of nulls, of what lies between.
  struct Cells {
    Cells(std::int64_t cells, const stats::BootstrapOptions& options)
        : values(cells, options), excesses(cells, options), nulls(cells) {}
    void add(std::string_view sample_id, const std::vector<WithNull>& measured);

    stats::StreamedBootstrap values, excesses;
    stats::Moments nulls;
  };
  struct State {
    State(const QuantityMeans::Extent& extent, const stats::BootstrapOptions& options);

    QuantityMeans::Extent extent;
    Cells by_layer, by_bin;
    stats::Moments heads, head_nulls;  // [layers, heads, quantities]
  };

  std::int64_t quantities() const { return std::ssize(quantities_); }
  std::string name(std::int64_t quantity) const {
    return std::string(quantities_[static_cast<size_t>(quantity)].name);
  }
  // Of a cell of a quantity, within what it can be.
  stats::Estimate value(const Cells& cells, std::int64_t cell, std::int64_t quantity) const;
  stats::Estimate excess(const Cells& cells, std::int64_t cell, std::int64_t quantity) const;

  std::span<const Quantity> quantities_;
  stats::BootstrapOptions options_;
  std::optional<State> state_;
};

}  // namespace buoy::analysis
