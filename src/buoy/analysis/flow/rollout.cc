#include "buoy/analysis/flow/rollout.h"

#include "buoy/base/error.h"

namespace buoy::analysis {

const char* name_of(Pooling pooling) {
  return pooling == Pooling::kSum ? "sum" : "mean";
}

RegionMatrix pooled(const RegionMatrix& mass, std::span<const double> lengths, Pooling pooling) {
  BUOY_CHECK(static_cast<std::int64_t>(lengths.size()) == mass.regions);
  RegionMatrix out = mass;
  if (pooling == Pooling::kMean) {
    for (std::int64_t a = 0; a < out.regions; ++a) {
      for (std::int64_t b = 0; b < out.regions; ++b) {
        const double length = lengths[static_cast<size_t>(b)];
        if (length > 0) out.at(a, b) /= length;  // a region without tokens receives nothing
      }
    }
  }
  normalise_rows(out);
  return out;
}

RegionMatrix rollout_layer(const RegionMatrix& mass, std::span<const double> lengths, Pooling pooling) {
  RegionMatrix out = pooled(mass, lengths, pooling);
  for (std::int64_t a = 0; a < out.regions; ++a) out.at(a, a) += 1;
  normalise_rows(out);
  return out;
}

std::vector<RegionMatrix> rollouts(std::span<const RegionMatrix> layers,
                                   std::span<const std::int64_t> depths) {
  std::vector<RegionMatrix> out;
  RegionMatrix product;
  std::int64_t depth = 0;
  for (const auto wanted : depths) {
    BUOY_CHECK(wanted > depth && wanted <= static_cast<std::int64_t>(layers.size()));
    for (; depth < wanted; ++depth) {
      const RegionMatrix& layer = layers[layers.size() - 1 - static_cast<size_t>(depth)];
      product = depth == 0 ? layer : multiply(product, layer);
    }
    out.push_back(product);
    normalise_rows(out.back());
  }
  return out;
}

}  // namespace buoy::analysis
