#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "buoy/probe/forwarding.h"
#include "buoy/run/change/changes.h"

namespace buoy::python {

// Others behind those that are there. UsageError where both hide keys that receive most.
void add(run::Changes& to, const run::Changes& others);

// What is changed in one forward, on top of what another probe changes. Empty: nothing.
struct StepChanges {
  std::int64_t heads = 0, tokens = 0;
  std::vector<std::vector<float>> key_bias;    // [layers] of [heads, tokens] or nothing
  std::vector<std::vector<float>> head_scale;  // [layers] of [heads] or nothing

  run::Changes more;  // MLPs and the residual stream, of any step

  StepChanges() = default;
  StepChanges(std::int64_t layers, std::int64_t head_count, std::int64_t token_count);
  bool any() const;  // but `more`, which goes with the changes of the request

  // Factor on the weight of keys before they are normalised; layer and head -1: all.
  void scale_key(std::int64_t layer, std::int64_t head, std::int64_t position, double factor);
  void scale_head(std::int64_t layer, std::int64_t head, double factor);
};

// Makes them in one forward; what is observed and changed beside it is left to another probe, which sees the
// forward as number `step`.
class StepChangeProbe final : public probe::ForwardingProbe {
 public:
  StepChangeProbe(const StepChanges& changes, probe::Probe* other)
      : ForwardingProbe(other), changes_(changes) {}
  bool takes_parts() const override { return false; }

  probe::Change change(const probe::Address& address, const probe::LayerExtent& extent) override;

 private:
  const StepChanges& changes_;
  std::vector<std::vector<float>> bias_, scale_;  // [layers], of the forward under way
};

// Shows another probe every forward as number 0: a recorder of one step. Steps are compared with `previous`,
// which outlives it.
class OneStepProbe final : public probe::ForwardingProbe {
 public:
  OneStepProbe(probe::Probe& other, std::shared_ptr<probe::PreviousStates> previous)
      : ForwardingProbe(&other), previous_(std::move(previous)) {}
  bool takes_parts() const override { return false; }

  probe::LayerRequest request(const probe::Address& address, const probe::LayerExtent& extent) override {
    auto out = ForwardingProbe::request(address, extent);
    if (out.residual.previous != nullptr) out.residual.previous = previous_;
    return out;
  }

 private:
  probe::Address shown(const probe::Address& address) const override {
    return {address.sequence, 0, address.branch, address.layer};
  }

  std::shared_ptr<probe::PreviousStates> previous_;
};

}  // namespace buoy::python
