#include "buoy/analysis/sinks/sink_life.h"

#include <algorithm>
#include <iterator>

#include "buoy/stats/not_a_number.h"

namespace buoy::analysis {
namespace {

using SinkKeys = std::vector<std::int32_t>;

SinkKeys both(const SinkKeys& a, const SinkKeys& b) {
  SinkKeys out;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}

SinkKeys either(const SinkKeys& a, const SinkKeys& b) {
  SinkKeys out;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}

constexpr WithNull kUndefined{stats::kNan, stats::kNan};

}  // namespace

void SinkLife::add(const SinkKeys& sinks, std::int64_t keys) {
  const auto now = static_cast<double>(sinks.size()), before = static_cast<double>(last_.size()),
             of = static_cast<double>(keys);
  if (steps_ == 0) {
    begun_ = null_begun_ = now;
    all_along_ = sinks;
  } else {
    const auto stayed = static_cast<double>(both(last_, sinks).size());
    const double null_stayed = before * now / of;
    before_last_ += before;
    stayed_ += stayed;
    null_stayed_ += null_stayed;
    moved_ += std::min(before, now) - stayed;
    null_moved_ += std::min(before, now) - null_stayed;
    begun_ += now - stayed;
    null_begun_ += now - null_stayed;
    all_along_ = both(all_along_, sinks);
  }
  ever_ = either(ever_, sinks);
  double known = 0;
  for (const auto& came : came_) known += came.keys;
  if (of > known) came_.push_back({of - known, 1});
  for (auto& came : came_) came.in_none *= 1 - now / of;
  in_all_ *= now / of;
  sinks_ += now;
  steps_ += 1;
  last_ = sinks;
}

WithNull SinkLife::stays() const {
  return lives() ? WithNull{stayed_ / before_last_, null_stayed_ / before_last_} : kUndefined;
}

WithNull SinkLife::moves() const {
  return lives() ? WithNull{moved_ / before_last_, null_moved_ / before_last_} : kUndefined;
}

WithNull SinkLife::dies() const {
  const WithNull stay = stays(), move = moves();
  return {1 - stay.value - move.value, 1 - stay.null - move.null};
}

WithNull SinkLife::lifetime() const {
  if (steps_ < 2 || sinks_ == 0) return kUndefined;
  return {sinks_ / begun_ / steps_, sinks_ / null_begun_ / steps_};
}

WithNull SinkLife::always() const {
  if (steps_ < 2 || sinks_ == 0) return kUndefined;
  double ever = 0;
  for (const auto& came : came_) ever += came.keys * (1 - came.in_none);
  return {static_cast<double>(all_along_.size()) / static_cast<double>(ever_.size()),
          came_.front().keys * in_all_ / ever};
}

}  // namespace buoy::analysis
