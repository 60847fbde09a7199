#include "buoy/analysis/sample/detection.h"

namespace buoy::analysis {

void Detection::begin(const Received& received, const Reach& reach, const RuleOptions& rules) {
  if (!detector_ || !(rules == rules_) || !detector_->fits(reach)) detector_.emplace(reach, rules);
  keys_ = static_cast<size_t>(reach.end);
  rules_ = rules;
  received_ = &received;
  looked_at_ = -2;
  seen_.resize(static_cast<size_t>(received.heads) + 1);
  for (auto& one : seen_) {
    one.looked = false;
    one.found.fill(false);
  }
}

void Detection::look(std::int64_t head) {
  if (looked_at_ == head) return;
  detector_->look(this->received(head));
  looked_at_ = head;
}

Detection::Seen& Detection::seen(std::int64_t head) {
  Seen& one = seen_[static_cast<size_t>(head + 1)];
  if (one.looked) return one;
  look(head);
  one.looked = true;
  one.top = detector_->top();
  one.top_share = detector_->top_share();
  one.margin = detector_->margin();
  return one;
}

const Anchors& Detection::anchors(std::int64_t head, Rule rule) {
  Seen& one = seen(head);
  const auto r = static_cast<size_t>(rule);
  if (!one.found[r]) {
    look(head);
    detector_->find(rule, one.anchors[r]);
    one.found[r] = true;
  }
  return one.anchors[r];
}

double Detection::entropy(std::int64_t head) {
  look(head);
  return detector_->entropy();
}

double Detection::anchor_count(std::int64_t head) {
  look(head);
  return detector_->anchor_count();
}

std::int64_t Detection::top_lift(std::int64_t head) {
  look(head);
  return detector_->top_lift();
}

}  // namespace buoy::analysis
