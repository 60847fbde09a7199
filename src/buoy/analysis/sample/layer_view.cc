#include "buoy/analysis/sample/layer_view.h"

#include <numeric>

#include "buoy/trace/schema.h"

namespace buoy::analysis {
namespace {

void fill(const LayerView& layer, std::span<const std::int64_t> groups, Received& out) {
  require_array(layer.sample, trace::kReceived);
  fill_received({layer.floats(trace::kReceived), layer.forward.group_sizes, groups, layer.sample.heads,
                 layer.sample.tokens},
                out);
}

}  // namespace

const Received& LayerView::received() const {
  if (has_received_) return scratch_.received;
  std::vector<std::int64_t> all(forward.group_sizes.size());
  std::iota(all.begin(), all.end(), 0);
  fill(*this, all, scratch_.received);
  has_received_ = true;
  return scratch_.received;
}

Received LayerView::received(const std::vector<std::int64_t>& groups) const {
  Received out;
  fill(*this, groups, out);
  return out;
}

Detection& LayerView::detection() const {
  if (!has_detection_) scratch_.detection.begin(received(), forward.reach, rules_);
  has_detection_ = true;
  return scratch_.detection;
}

}  // namespace buoy::analysis
