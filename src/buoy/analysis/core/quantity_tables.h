#pragma once

#include <optional>
#include <span>
#include <string_view>
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
  QuantitySummary(std::span<const std::string_view> names, const stats::BootstrapOptions& options)
      : names_(names), options_(options) {}

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

  std::int64_t quantities() const { return std::ssize(names_); }
  std::string name(std::int64_t quantity) const { return std::string(names_[static_cast<size_t>(quantity)]); }

  std::span<const std::string_view> names_;
  stats::BootstrapOptions options_;
  std::optional<State> state_;
};

}  // namespace buoy::analysis
