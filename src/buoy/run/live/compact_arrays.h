#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "buoy/analysis/sample/layer_view.h"
#include "buoy/observe/plan.h"
#include "buoy/trace/sample_file.h"

namespace buoy::run {

// A chosen sample of a compact trace is asked for the rows that write the answer, whatever else is observed.
observe::Plan with_rows(observe::Plan plan);

// What the level compact keeps of a sample beside states: received attention averaged over heads, masses and
// the strongest keys; of a chosen sample also every head and, where rows were observed, the rows that write
// the answer. Rows are quantised (base/quantised_row.h).
class CompactArrays {
 public:
  static constexpr std::int64_t kTopKeys = 8;

  // What is not observed (received attention, rows) is not kept.
  CompactArrays(const analysis::SampleFacts& sample, bool chosen);

  // In the order of a file.
  const std::vector<trace::PlannedArray>& arrays() const { return arrays_; }
  // Those that F16 would spoil.
  static std::set<std::string> kept_as_f32();

  // Several threads may take layers at once.
  void take(const analysis::LayerView& layer, trace::SampleFile& file) const;

 private:
  void take_mean(const analysis::LayerView& layer, trace::SampleFile& file) const;
  void take_mass(const analysis::LayerView& layer, trace::SampleFile& file) const;
  void take_heads(const analysis::LayerView& layer, trace::SampleFile& file) const;
  void take_rows(const analysis::LayerView& layer, trace::SampleFile& file) const;
  std::int64_t cell(const analysis::LayerView& layer) const {
    return layer.forward.place * layers_ + layer.l;
  }

  std::int64_t layers_ = 0, regions_ = 0;
  bool received_ = false, heads_ = false, rows_ = false;
  std::vector<trace::PlannedArray> arrays_;
};

}  // namespace buoy::run
