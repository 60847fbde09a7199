#pragma once

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "buoy/analysis/core/axes.h"
#include "buoy/analysis/core/state_archive.h"
#include "buoy/analysis/core/with_null.h"
#include "buoy/analysis/sample/layer_view.h"
#include "buoy/stats/estimate.h"

namespace buoy::analysis {

struct Quantity {
  std::string_view name;
  stats::Interval possible;  // what it can be
};
inline constexpr stats::Interval kAtLeastZero{0, std::numeric_limits<double>::infinity()};

// Several quantities of one sample, each with its null: means by layer, along the run, and by head, in single
// precision. What is not defined is passed over.
class QuantityMeans {
 public:
  struct Extent {
    std::int64_t layers, heads, quantities;
  };
  explicit QuantityMeans(const Extent& extent);

  // Of a head at a step, of a layer at a step; of a head and of a layer over the whole run. Layers may come
  // from several threads.
  void add_head(const LayerView& layer, std::int64_t head, std::int64_t quantity, const WithNull& measured);
  void add_layer(const LayerView& layer, std::int64_t quantity, const WithNull& measured);
  void add_run(std::int64_t l, std::int64_t head, std::int64_t quantity, const WithNull& measured);
  void add_whole(std::int64_t l, std::int64_t quantity, const WithNull& measured);
  // When the sample is over: drops the sums.
  void finish();
  void state(StateArchive& archive);

  const Extent& extent() const { return extent_; }
  WithNull of_layer(std::int64_t l, std::int64_t quantity) const;  // mean over heads and steps
  WithNull of_bin(std::int64_t bin, std::int64_t quantity) const;  // mean over the layers of an eighth
  WithNull of_head(std::int64_t l, std::int64_t head, std::int64_t quantity) const;  // mean over steps

 private:
  struct Sum {
    double value = 0, null = 0, count = 0, nulls = 0;

    void add(const WithNull& measured);
    void add(const Sum& other);
    WithNull mean() const;
  };
  struct Means {
    std::vector<float> values, nulls;

    void add(const WithNull& mean);
    WithNull at(std::int64_t cell) const;
  };

  Sum& of_step(std::int64_t l, std::int64_t bin, std::int64_t quantity);

  Extent extent_;
  Means by_layer_, by_bin_, by_head_;
  // While forwards come: [layers, bins and the whole run, quantities], [layers, heads, quantities].
  std::vector<Sum> steps_, heads_;
};

}  // namespace buoy::analysis
