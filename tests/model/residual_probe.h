#pragma once

#include <map>
#include <utility>
#include <vector>

#include "buoy/probe/probe.h"

namespace buoy::testing {

// Reads the residual stream of the same rows in every layer, and makes changes to layers of one step.
class ResidualProbe final : public probe::Probe {
 public:
  struct Changed {
    std::vector<std::int32_t> rows;
    std::vector<float> values;
    probe::ResidualPoint at = probe::ResidualPoint::kPost;
    bool replace = false;
  };
  struct LayerChanges {
    std::vector<Changed> residual;
    float mlp_scale = 1.0f;
    std::vector<float> head_scale = {};
  };

  probe::ResidualRequest wanted;
  std::map<std::int64_t, LayerChanges> changes;                                 // by layer
  std::int64_t step = 0, sequence = 0;                                          // that are changed
  std::map<std::pair<std::int64_t, std::int64_t>, probe::ResidualRecord> seen;  // by sequence and layer

  void want_everything(std::vector<std::int32_t> rows, std::int64_t lens = 0) {
    wanted = {std::move(rows), true, true, true, true, true, true, lens};
  }
  const probe::ResidualRecord& layer(std::int64_t number, std::int64_t of_sequence = 0) const {
    return seen.at({of_sequence, number});
  }

  probe::LayerRequest request(const probe::Address&, const probe::LayerExtent&) override {
    probe::LayerRequest request;
    request.residual = wanted;
    return request;
  }
  void take(const probe::Address& address, probe::LayerRecord&& record) override {
    seen[{address.sequence, address.layer}] = std::move(record.residual);
  }
  probe::Change change(const probe::Address& address, const probe::LayerExtent&) override {
    const auto found = changes.find(address.layer);
    if (found == changes.end() || address.step != step || address.sequence != sequence) return {};
    auto& spans = spans_[address.layer];
    spans.clear();
    for (const auto& one : found->second.residual)
      spans.push_back({one.at, one.replace, one.rows, one.values});
    return {{}, found->second.head_scale, spans, found->second.mlp_scale};
  }

 private:
  std::map<std::int64_t, std::vector<probe::ResidualChange>> spans_;
};

}  // namespace buoy::testing
