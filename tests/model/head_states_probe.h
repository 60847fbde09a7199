#pragma once

#include <map>
#include <memory>
#include <vector>

#include "buoy/probe/probe.h"

namespace buoy::testing {

// Asks for the outputs of heads and the drift of keys and values, and keeps what comes by sequence and layer.
class HeadStatesProbe final : public probe::Probe {
 public:
  explicit HeadStatesProbe(std::int64_t layers) : layers_(layers) {}

  probe::LayerRequest request(const probe::Address& address, const probe::LayerExtent&) override {
    probe::LayerRequest r;
    r.head_norm = true;
    auto& previous = previous_[address.sequence];
    if (!previous) previous = std::make_shared<probe::PreviousKeys>(layers_);
    r.previous_keys = previous;
    r.states = wants_states;
    return r;
  }
  void take(const probe::Address& address, probe::LayerRecord&& r) override {
    auto& kept = seen[{address.sequence, address.layer}];
    const auto& s = r.states;
    if (s.keys != nullptr) {
      kept.keys.assign(s.keys, s.keys + s.key_rows * s.kv_heads * s.head_dim);
      kept.values.assign(s.values, s.values + s.key_rows * s.kv_heads * s.head_dim);
    }
    kept.head_norm = std::move(r.head_norm);
    kept.key_cosine = std::move(r.key_cosine);
    kept.value_cosine = std::move(r.value_cosine);
  }

  struct Seen {
    std::vector<float> head_norm, key_cosine, value_cosine, keys, values;
  };
  std::map<std::pair<std::int64_t, std::int64_t>, Seen> seen;
  bool wants_states = false;

 private:
  std::int64_t layers_;
  std::map<std::int64_t, std::shared_ptr<probe::PreviousKeys>> previous_;
};

}  // namespace buoy::testing
