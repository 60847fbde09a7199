#pragma once

#include <algorithm>
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

// Asks the same of all layers: received attention by 13 groups of queries, rows the last 32.
class Watch final : public probe::Probe {
 public:
  static constexpr std::int64_t kGroups = 13, kCloseRows = 32;

  explicit Watch(const Observed& observed) : ask_(observed.ask) {}

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

 private:
  void (*ask_)(probe::LayerRequest&);
  std::vector<std::uint8_t> groups_;
};

}  // namespace buoy::benchmark
