// A probe that passes all calls on: none is forgotten, and whoever derives from it changes one at a time.

#include "buoy/probe/forwarding.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace buoy::probe {
namespace {

constexpr Address kAddress{3, 5, 1, 7};
const std::vector<std::int32_t> kTokens = {1, 2};
const LayerExtent kExtent{2, 2, 4, kTokens};

class Pending final : public PendingRecord {
 public:
  void fill(LayerRecord& /*record*/) override {}
  std::uint64_t bytes() const override { return 12; }
};

// Notes what it is told and answers every question with something.
class Noting final : public Probe {
 public:
  LayerRequest request(const Address& address, const LayerExtent& extent) override {
    note("request", address);
    LayerRequest out;
    out.top = extent.heads;
    return out;
  }
  void take(const Address& address, LayerRecord&& record) override {
    note("take", address);
    taken = std::move(record);
  }
  bool takes_later() const override { return true; }
  void take_later(const Address& address, std::unique_ptr<PendingRecord> record) override {
    note("take_later", address);
    pending = std::move(record);
  }
  PredictionRequest predictions(const Address& address, const LayerExtent& extent) override {
    note("predictions", address);
    return {{0}, {extent.tokens[1]}, 6};
  }
  Change change(const Address& address, const LayerExtent& /*extent*/) override {
    note("change", address);
    Change out;
    out.mlp_scale = 0.5F;
    return out;
  }

  std::vector<std::string> notes;
  LayerRecord taken;
  std::unique_ptr<PendingRecord> pending;

 private:
  void note(const char* what, const Address& a) {
    notes.push_back(std::string(what) + " " + std::to_string(a.sequence) + " " + std::to_string(a.step) +
                    " " + std::to_string(a.branch) + " " + std::to_string(a.layer));
  }
};

class AsStepZero final : public ForwardingProbe {
 public:
  using ForwardingProbe::ForwardingProbe;

 private:
  Address shown(const Address& a) const override { return {a.sequence, 0, a.branch, a.layer}; }
};

void call_all(Probe& probe) {
  EXPECT_EQ(probe.request(kAddress, kExtent).top, 4);
  LayerRecord record;
  record.entropy = {1, 2};
  probe.take(kAddress, std::move(record));
  EXPECT_TRUE(probe.takes_later());
  probe.take_later(kAddress, std::make_unique<Pending>());
  const auto predictions = probe.predictions(kAddress, kExtent);
  EXPECT_EQ(predictions.held, std::vector<std::int32_t>{2});
  EXPECT_EQ(predictions.top, 6);
  EXPECT_EQ(probe.change(kAddress, kExtent).mlp_scale, 0.5F);
}

TEST(ForwardingProbe, PassesEveryCallOn) {
  Noting other;
  ForwardingProbe probe(&other);
  call_all(probe);
  EXPECT_EQ(other.notes, (std::vector<std::string>{"request 3 5 1 7", "take 3 5 1 7", "take_later 3 5 1 7",
                                                   "predictions 3 5 1 7", "change 3 5 1 7"}));
  EXPECT_EQ(other.taken.entropy.size(), 2u);
  ASSERT_NE(other.pending, nullptr);
  EXPECT_EQ(other.pending->bytes(), 12u);
}

TEST(ForwardingProbe, ShowsAnotherAddressInEveryCall) {
  Noting other;
  AsStepZero probe(&other);
  call_all(probe);
  EXPECT_EQ(other.notes, (std::vector<std::string>{"request 3 0 1 7", "take 3 0 1 7", "take_later 3 0 1 7",
                                                   "predictions 3 0 1 7", "change 3 0 1 7"}));
}

TEST(ForwardingProbe, AsksForNothingWithoutAnother) {
  ForwardingProbe probe(nullptr);
  EXPECT_FALSE(probe.request(kAddress, kExtent).any());
  EXPECT_FALSE(probe.predictions(kAddress, kExtent).any());
  EXPECT_FALSE(probe.change(kAddress, kExtent).any());
  EXPECT_FALSE(probe.takes_later());
  probe.take(kAddress, {});
}

}  // namespace
}  // namespace buoy::probe
