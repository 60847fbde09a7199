#pragma once

#include <cstdint>
#include <vector>

#include "buoy/analysis/core/with_null.h"

namespace buoy::analysis {

// How the sinks of one head live over the steps of a run. The null of everything draws, at every step, as
// many keys at random as there are sinks.
class SinkLife {
 public:
  // The sinks of the next step, ascending, among `keys`, which may become more.
  void add(const std::vector<std::int32_t>& sinks, std::int64_t keys);

  // Shares of the sinks of all steps but the last: in place at the next step; left while another entered;
  // left for good. NaN: no sinks, or no next step.
  WithNull stays() const;
  WithNull moves() const;
  WithNull dies() const;
  // Mean length of stays at one place, as a share of the steps.
  WithNull lifetime() const;
  // Share of the keys that are sinks at some step that are so at every step.
  WithNull always() const;

 private:
  bool lives() const { return steps_ > 1 && before_last_ > 0; }

  std::vector<std::int32_t> last_, ever_, all_along_;
  double steps_ = 0;
  double sinks_ = 0, before_last_ = 0;  // added up over steps, and over all but the last
  double stayed_ = 0, moved_ = 0, begun_ = 0;
  double null_stayed_ = 0, null_moved_ = 0, null_begun_ = 0;
  // Under the null: keys that came at the same step, and the chance of each that it was drawn at no step,
  // and, of the first ones, at every step.
  struct Came {
    double keys, in_none;
  };
  std::vector<Came> came_;
  double in_all_ = 1;
};

}  // namespace buoy::analysis
