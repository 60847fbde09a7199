#pragma once

#include <memory>
#include <utility>

#include "buoy/probe/probe.h"

namespace buoy::probe {

// Passes every call on to another probe. With none it asks for nothing and changes nothing. Who derives from
// it writes only what is different: a call that is forgotten by hand is observed, or changed, by nobody.
class ForwardingProbe : public Probe {
 public:
  explicit ForwardingProbe(Probe* other) : other_(other) {}

  LayerRequest request(const Address& address, const LayerExtent& extent) override {
    return other_ != nullptr ? other_->request(shown(address), extent) : LayerRequest{};
  }
  void take(const Address& address, LayerRecord&& record) override {
    if (other_ != nullptr) other_->take(shown(address), std::move(record));
  }
  bool takes_later() const override { return other_ != nullptr && other_->takes_later(); }
  void take_later(const Address& address, std::unique_ptr<PendingRecord> record) override {
    if (other_ != nullptr) other_->take_later(shown(address), std::move(record));
  }
  bool takes_parts() const override { return other_ == nullptr || other_->takes_parts(); }
  PredictionRequest predictions(const Address& address, const LayerExtent& extent) override {
    return other_ != nullptr ? other_->predictions(shown(address), extent) : PredictionRequest{};
  }
  Change change(const Address& address, const LayerExtent& extent) override {
    return other_ != nullptr ? other_->change(shown(address), extent) : Change{};
  }

 protected:
  // From now on, calls go to this one.
  void forward_to(Probe* other) { other_ = other; }
  // The address that the other one sees.
  virtual Address shown(const Address& address) const { return address; }

 private:
  Probe* other_;
};

}  // namespace buoy::probe
