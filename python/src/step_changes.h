#pragma once

#include <cstdint>
#include <vector>

#include "buoy/probe/probe.h"

namespace buoy::python {

// What is changed in one forward, on top of what another probe changes. Empty: nothing.
struct StepChanges {
  std::int64_t heads = 0, tokens = 0;
  std::vector<std::vector<float>> key_bias;    // [layers] of [heads, tokens] or nothing
  std::vector<std::vector<float>> head_scale;  // [layers] of [heads] or nothing

  StepChanges() = default;
  StepChanges(std::int64_t layers, std::int64_t head_count, std::int64_t token_count);
  bool any() const;

  // Factor on the weight of keys before they are normalised; layer and head -1: all.
  void scale_key(std::int64_t layer, std::int64_t head, std::int64_t position, double factor);
  void scale_head(std::int64_t layer, std::int64_t head, double factor);
};

// Makes them in one forward; what is observed and changed beside it is left to another probe, which sees the
// forward as number `step`.
class StepChangeProbe final : public probe::Probe {
 public:
  StepChangeProbe(const StepChanges& changes, probe::Probe* other) : changes_(changes), other_(other) {}

  probe::LayerRequest request(const probe::Address& address, const probe::LayerExtent& extent) override {
    return other_ != nullptr ? other_->request(address, extent) : probe::LayerRequest{};
  }
  void take(const probe::Address& address, probe::LayerRecord&& record) override {
    if (other_ != nullptr) other_->take(address, std::move(record));
  }
  probe::Change change(const probe::Address& address, const probe::LayerExtent& extent) override;

 private:
  const StepChanges& changes_;
  probe::Probe* other_;
  std::vector<std::vector<float>> bias_, scale_;  // [layers], of the forward under way
};

// Shows another probe every forward as number 0: a recorder of one step.
class OneStepProbe final : public probe::Probe {
 public:
  explicit OneStepProbe(probe::Probe& other) : other_(other) {}

  probe::LayerRequest request(const probe::Address& address, const probe::LayerExtent& extent) override {
    return other_.request(first(address), extent);
  }
  void take(const probe::Address& address, probe::LayerRecord&& record) override {
    other_.take(first(address), std::move(record));
  }

 private:
  static probe::Address first(probe::Address address) {
    address.step = 0;
    return address;
  }
  probe::Probe& other_;
};

}  // namespace buoy::python
