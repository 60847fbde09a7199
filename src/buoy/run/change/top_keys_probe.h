#pragma once

#include <map>

#include "buoy/run/change/top_keys.h"

namespace buoy::run {

// Hides the keys that receive most from several sequences that are packed together.
class TopKeysProbe final : public probe::Probe {
 public:
  TopKeysProbe(const TopChange& change, const ModelConfig& config) : change_(change), config_(config) {}

  // From now on this sequence is another one. UsageError as TopKeys has it.
  void begin(std::int64_t sequence, const TopRow& row) {
    rows_.erase(sequence);
    rows_.try_emplace(sequence, change_, config_, row);
  }
  // The sequence is decoded: what TopKeys::finish() says of it.
  void end(std::int64_t sequence) { rows_.extract(sequence).mapped().finish(); }
  void drop(std::int64_t sequence) { rows_.erase(sequence); }

  probe::LayerRequest request(const probe::Address& address, const probe::LayerExtent&) override {
    probe::LayerRequest out;
    out.followed = rows_.at(address.sequence).wish(address);
    return out;
  }
  void take(const probe::Address& address, probe::LayerRecord&& record) override {
    if (!record.followed.empty())
      rows_.at(address.sequence).take(address, std::exchange(record.followed, {}));
  }
  bool takes_parts() const override { return true; }
  probe::Change change(const probe::Address& address, const probe::LayerExtent& extent) override {
    return {rows_.at(address.sequence).bias(address, extent), {}};
  }

 private:
  const TopChange& change_;
  const ModelConfig& config_;
  std::map<std::int64_t, TopKeys> rows_;
};

}  // namespace buoy::run
