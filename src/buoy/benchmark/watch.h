#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <vector>

#include "buoy/probe/probe.h"

namespace buoy::benchmark {

// Something to observe: sets what it wants in a request that already has the groups and rows.
struct Observed {
  const char* name;
  void (*ask)(probe::LayerRequest& request);
};

// What the speed of observing is measured by.
inline constexpr Observed kEverything = {"observed", [](probe::LayerRequest& r) {
                                           r.received = r.entropy = r.row_weights = true;
                                           r.qk_after = r.qk_before = true;
                                         }};

// When records are taken: with each layer, or later, so that the card goes on, as who traces or watches whole
// rows does.
enum class Taking { kAtOnce, kLater };

// Asks the same of all layers: received attention by 13 groups of queries, rows the last 32.
class Watch final : public probe::Probe {
 public:
  static constexpr std::int64_t kGroups = 13, kCloseRows = 32;

  explicit Watch(const Observed& observed, Taking taking = Taking::kAtOnce)
      : ask_(observed.ask), taking_(taking) {}

  probe::LayerRequest request(const probe::Address&, const probe::LayerExtent& extent) override {
    probe::LayerRequest r;
    r.groups = kGroups;
    if (static_cast<std::int64_t>(groups_.size()) != extent.query_rows) {
      groups_.clear();
      for (std::int64_t i = 0; i < extent.query_rows; ++i)
        groups_.push_back(static_cast<std::uint8_t>(i * kGroups / extent.query_rows));
    }
    r.group_of_row = groups_;
    for (std::int64_t i = std::max<std::int64_t>(0, extent.query_rows - kCloseRows); i < extent.query_rows;
         ++i)
      r.rows.push_back(static_cast<std::int32_t>(i));
    ask_(r);
    return r;
  }
  void take(const probe::Address&, probe::LayerRecord&&) override {}
  bool takes_later() const override { return taking_ == Taking::kLater; }
  // A few records are held, as by somebody who is at work on them.
  void take_later(const probe::Address&, std::unique_ptr<probe::PendingRecord> record) override {
    constexpr std::size_t kHeld = 12;
    held_.push_back(std::move(record));
    if (held_.size() > kHeld) held_.pop_front();
  }

 private:
  void (*ask_)(probe::LayerRequest&);
  Taking taking_;
  std::deque<std::unique_ptr<probe::PendingRecord>> held_;
  std::vector<std::uint8_t> groups_;
};

}  // namespace buoy::benchmark
