#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "buoy/decode/options.h"
#include "buoy/observe/query_groups.h"
#include "buoy/probe/forwarding.h"
#include "buoy/run/change/changes.h"

namespace buoy::run {

// What changes are made to.
struct ChangedRow {
  observe::Regions regions;           // "answer" among them; empty: there are none
  std::int64_t tokens = 0;            // at most
  std::int64_t steps = 0;             // forwards that have a number
  decode::DecodeOptions decode = {};  // which loop, where a family has several
  // For keys that are chosen by what they receive.
  std::string id = {};
  std::span<const std::int32_t> prompt = {};
  std::uint64_t seed = 0;
  bool left_to_right = false;
};

// Makes the changes to one sequence; what it observes it leaves to another probe, if any. Factors on the same
// keys or MLPs multiply; vectors come in the order they were given.
class ChangingProbe final : public probe::ForwardingProbe {
 public:
  // UsageError when check_changes() has one, and when the row has no such region, position or step: a change
  // that changes nothing is a mistake.
  ChangingProbe(const Changes& changes, const ModelConfig& config, const ChangedRow& row,
                probe::Probe* observer);

  probe::LayerRequest request(const probe::Address& address, const probe::LayerExtent& extent) override;
  void take(const probe::Address& address, probe::LayerRecord&& record) override;
  // What the next forward is changed by has to be there before it.
  bool takes_later() const override { return !follows() && ForwardingProbe::takes_later(); }
  probe::Change change(const probe::Address& address, const probe::LayerExtent& extent) override;

  // Another probe looks on from now on; the step before stays the step before.
  void observe_by(probe::Probe* observer) { forward_to(observer); }

  // When the row is decoded: what TopKeys::finish() says of it.
  void finish() const {
    if (top_) top_->finish();
  }

 private:
  struct Keys {
    const KeyChange* change;
    std::vector<std::int64_t> positions;
    float bias;
  };
  struct Vectors {
    const ResidualVectors* change;
    std::vector<std::int64_t> positions;  // "all": those of the row
  };
  // Those of the rows of a forward.
  struct ForwardVectors {
    std::vector<std::int32_t> rows;
    std::vector<float> values;  // where each row has its own
  };

  bool follows() const { return top_.has_value(); }
  std::vector<float>& bias_of(const probe::Address& address);
  void add_top(const probe::Address& address, const probe::LayerExtent& extent, probe::Change& out);
  void add_residual(const probe::Address& address, const probe::LayerExtent& extent, probe::Change& out);

  std::int64_t heads_, hidden_;
  std::vector<std::vector<const HeadChange*>> head_changes_;  // [layers]
  std::vector<std::vector<float>> scale_;                     // [layers] of [heads], of the forward under way
  std::vector<Keys> keys_;
  std::vector<std::vector<float>> bias_;  // [branches, layers] of the forward under way
  const std::vector<MlpChange>& mlps_;
  std::vector<Vectors> vectors_;
  std::vector<std::vector<ForwardVectors>> forward_vectors_;  // [layers] of the forward under way
  std::vector<std::vector<probe::ResidualChange>> residual_;  // likewise
  std::optional<TopKeys> top_;
  std::map<std::array<std::int64_t, 2>, bool> shown_;  // whether the observer asked, by branch and layer
};

}  // namespace buoy::run
