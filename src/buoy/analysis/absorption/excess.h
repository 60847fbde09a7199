#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "buoy/analysis/core/analysis.h"
#include "buoy/analysis/core/depth_summary.h"
#include "buoy/analysis/core/reach.h"
#include "buoy/stats/moments.h"
#include "buoy/stats/streamed_bootstrap.h"

namespace buoy::analysis {

// How much of the attention that the mask leaves free a position takes: (share - floor) / (seen - floor),
// with the floor of even attention and the share of queries that see the position. A sink to which every
// query that sees it gives s, and the rest of its attention evenly, has s under every mask and at every
// length; a lift has not.
class ExcessScale {
 public:
  // Of the queries [first, end).
  ExcessScale(const Mask& mask, std::int64_t tokens, std::int64_t first, std::int64_t end)
      : ExcessScale(whole_row(mask, tokens), first, end) {}
  ExcessScale(const Reach& reach, std::int64_t first, std::int64_t end);
  double of(std::int64_t position, double share) const;  // NaN where there is no choice

 private:
  std::vector<double> floor_, seen_;
};

// Whose attention: that of all queries, or of those that write the answer, which see nearly all keys.
enum class ExcessQueries : std::int64_t { kAll, kAnswer };
inline constexpr std::array<std::string_view, 2> kExcessQueryNames = {"all", "answer"};
// The first position, and the one with the largest share.
inline constexpr std::array<std::string_view, 2> kExcessSelectors = {"position_0", "top_1"};
inline constexpr auto kExcessQueries = static_cast<std::int64_t>(kExcessQueryNames.size()),
                      kExcessSets = static_cast<std::int64_t>(kExcessSelectors.size());

// [layer, when, view, queries, selector]
stats::Grid excess_cells(const LayerAxis& axis);

// Of one sample.
class ExcessSample {
 public:
  ExcessSample(const LayerAxis& axis, const SampleFacts& sample);
  void take(const LayerView& layer);
  void state(StateArchive& archive);

  const stats::Grid cells;
  stats::Moments excess;  // cells

 private:
  struct Place {
    const LayerView& layer;
    ExcessQueries queries;
    std::int64_t head;
  };
  void take_vector(const Place& place, const ExcessScale& scale, std::span<const double> received);

  std::vector<std::int64_t> answer_groups_;
  std::optional<ExcessScale> of_all_;  // where it is the same at every forward
};

// Over samples.
struct ExcessState {
  ExcessState(const LayerAxis& axis, const AnalysisOptions& options);
  void add(std::string_view id, const LayerAxis& axis, const ExcessSample& of);

  stats::Grid cells;
  stats::StreamedBootstrap by_layer;
  DepthSummary depth;                        // [when, view, queries, selector]
  std::optional<std::int64_t> block_length;  // of a model that decodes blocks
  // The same of each sample, mean over layers: traces are compared sample by sample.
  std::map<std::string, std::vector<double>, std::less<>> of_samples;
};

}  // namespace buoy::analysis
