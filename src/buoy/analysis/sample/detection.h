#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "buoy/analysis/floating/floating_rules.h"
#include "buoy/analysis/sample/received.h"

namespace buoy::analysis {

// What stands out in the received attention of one forward and layer: of every head, and of the mean over
// heads (head -1). Each rule is applied to a vector once, however many analyses ask.
class Detection {
 public:
  // `received` must stay as it is until the next begin().
  void begin(const Received& received, const Reach& reach, const RuleOptions& rules);

  // Of the keys that exist.
  std::span<const double> received(std::int64_t head) const { return received_->of(head).first(keys_); }
  const std::vector<double>& null() const { return detector_->null(); }  // of even attention

  const Anchors& anchors(std::int64_t head, Rule rule);
  std::int64_t top(std::int64_t head) { return seen(head).top; }
  double top_share(std::int64_t head) { return seen(head).top_share; }
  double margin(std::int64_t head) { return seen(head).margin; }  // of the largest over the second
  double entropy(std::int64_t head);                              // nats
  double anchor_count(std::int64_t head);                         // 1 / sum of squares
  std::int64_t top_lift(std::int64_t head);                       // the largest of received / max(1/T, null)

 private:
  struct Seen {
    bool looked = false;
    std::int64_t top = 0;
    double top_share = 0, margin = 0;
    std::array<bool, kRuleCount> found{};
    std::array<Anchors, kRuleCount> anchors;
  };

  Seen& seen(std::int64_t head);
  void look(std::int64_t head);  // makes it the detector's vector

  const Received* received_ = nullptr;
  size_t keys_ = 0;
  RuleOptions rules_;
  std::optional<AnchorDetector> detector_;
  std::vector<Seen> seen_;  // [1 + heads]
  std::int64_t looked_at_ = -2;
};

}  // namespace buoy::analysis
