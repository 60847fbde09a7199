#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "buoy/analysis/flow/rollout.h"
#include "buoy/analysis/flow/sample_flow.h"
#include "buoy/result/table.h"
#include "buoy/stats/mean_error.h"

namespace buoy::analysis {

// Of what a rollout is: of the forward over the finished row as published, with the authors' regions
// (PublishedRegions); of the same forward with padding apart and rows by the token that they write; the mean
// of the rollouts of all denoising steps; that of the last of them, which still has a masked slot or two.
enum class RolloutOf { kPublished, kFinalRow, kDenoisingMean, kDenoisingLast };
inline constexpr RolloutOf kRolloutsOf[] = {RolloutOf::kPublished, RolloutOf::kFinalRow,
                                            RolloutOf::kDenoisingMean, RolloutOf::kDenoisingLast};
const char* name_of(RolloutOf forward);

// The rollouts of one sample, and even attention through the same regions, lengths, mask and depth.
struct SampleRollout {
  std::vector<std::int64_t> depths;  // 1, 2, ... and all observed layers
  // [poolings, depths]; empty where the trace holds no such forward. Published: sum pooling over all layers
  // alone.
  std::vector<RegionMatrix> published, final_row, denoising_mean, denoising_last;
  // The same of even attention, through the regions as they were at the same forwards.
  std::vector<RegionMatrix> even_published, even_final_row, even_denoising_mean, even_denoising_last;

  struct Cell {
    const RegionMatrix *flow, *even;
  };
  // Of a pooling and a depth, by their places; nothing where there is none.
  std::optional<Cell> at(RolloutOf forward, size_t pooling, size_t depth) const;
};

// Empty unless the trace has the rows of every region. `most` is the largest truncated depth.
SampleRollout rollout_of_sample(const SampleFlow& flow, std::int64_t most);
// The depths of it; none where it is empty.
std::vector<std::int64_t> rollout_depths(const SampleFlow& flow, std::int64_t layers, std::int64_t most);

// Means over the steps of the matrices of regions; of each row over the steps at which the region has
// queries.
struct MeanMatrices {
  std::vector<RegionMatrix> of_layer;  // [poolings, layers]
  std::vector<RegionMatrix> even;      // [poolings]
};
MeanMatrices mean_matrices(const SampleFlow& flow);

class KeptFlow;

// Means over samples of region-to-region mass and of rollouts, by the regions' names.
class RolloutSums {
 public:
  void add(const ObservedSample& sample, const KeptFlow& kept);
  Table matrix() const;
  Table rollout() const;

 private:
  using Key = std::array<std::int64_t, 5>;
  struct Entry {
    stats::MeanErrors value{1}, uniform{1};
    bool all_layers = false;
  };

  void add_matrices(const ObservedSample& sample, const KeptFlow& kept, const std::vector<std::int64_t>& ids);
  void add_rollouts(const ObservedSample& sample, const KeptFlow& kept, const std::vector<std::int64_t>& ids);
  std::int64_t region(const std::string& name);
  std::int64_t order(std::int64_t region) const;  // how tables sort it

  std::vector<std::string> names_;
  std::map<Key, Entry> mass_;     // layer, pooling, from, to
  std::map<Key, Entry> rollout_;  // forward, pooling, depth, from, to
};

}  // namespace buoy::analysis
