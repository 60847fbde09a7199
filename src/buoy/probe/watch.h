#pragma once

#include <functional>
#include <utility>

#include "buoy/probe/probe.h"

namespace buoy::probe {

// A probe that wants the same of every layer and hands what was measured to a function, layer by layer.
class Watch final : public Probe {
 public:
  using Seen = std::function<void(const Address& address, const LayerRecord& record)>;

  Watch(LayerRequest wanted, Seen seen) : wanted_(std::move(wanted)), seen_(std::move(seen)) {}

  LayerRequest request(const Address&, const LayerExtent&) override { return wanted_; }
  void take(const Address& address, LayerRecord&& record) override { seen_(address, record); }

 private:
  LayerRequest wanted_;
  Seen seen_;
};

}  // namespace buoy::probe
