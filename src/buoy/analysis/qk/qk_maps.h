#pragma once

#include <array>
#include <vector>

#include "buoy/analysis/core/analysis.h"
#include "buoy/analysis/qk/qk_columns.h"
#include "buoy/result/table.h"

namespace buoy::analysis {

// Which layer of a sample a map is drawn of: the one asked for, or the observed one nearest below 7/8 of the
// depth (the deeper of the published panels, 28 of 32). An index into the observed layers. Throws UsageError
// for a layer that was not observed.
std::int64_t layer_of_map(const SampleFacts& sample, const AnalysisOptions& options);

// The maps of one sample at its last observed step, which come from one layer.
class QkMaps {
 public:
  explicit QkMaps(const AnalysisOptions& options);

  // What is kept of a sample until it is known to be the one that is drawn.
  struct Panel {
    std::int64_t layer_index = 0;
    std::int32_t step = 0, layer = 0;
    std::vector<double> shares;          // [keys], those that exist
    std::vector<std::uint8_t> floating;  // [keys]
    struct Profile {
      std::vector<double> dot, cosine, norm;  // [columns]
    };
    std::array<Profile, kStages> profiles;
    std::vector<float> queries, keys;  // of the positions shown; empty where states were not observed
  };
  // Of a sample: what bounds its panel.
  struct Extent {
    std::int64_t tokens;
    Reach reach;  // of the last step
    std::int64_t heads, kv_heads, head_dim;
  };
  static void archive(StateArchive& archive, Panel& panel, const Extent& of);
  // Throws UsageError for a head or a layer that the sample lacks.
  Panel panel_of(const SampleFacts& sample) const;
  void keep(const LayerView& layer, const QkColumns& columns, Panel& panel) const;

  void draw(const ObservedSample& sample, const Panel& panel);

  const Table& columns() const { return columns_; }
  const Table& pairs() const { return pairs_; }

 private:
  void draw_columns(const ObservedSample& sample, const Panel& panel);
  void draw_pairs(const ObservedSample& sample, const Panel& panel);

  AnalysisOptions options_;
  Table columns_, pairs_;
};

}  // namespace buoy::analysis
