#pragma once

#include <cstdint>
#include <vector>

#include "buoy/observe/record_layout.h"
#include "buoy/probe/probe.h"
#include "buoy/trace/array.h"

namespace buoy::observe {

// Collects what the plan asks for of one sequence and gives it out as the arrays of a trace sample.
class Recorder final : public probe::Probe {
 public:
  Recorder(const Plan& plan, const Subject& subject);

  probe::LayerRequest request(const probe::Address& address, const probe::LayerExtent& extent) override;
  probe::PredictionRequest predictions(const probe::Address& address,
                                       const probe::LayerExtent& extent) override;
  void take(const probe::Address& address, probe::LayerRecord&& record) override;

  // Everything observed, by step and layer; the recorder is empty afterwards. Every planned step and layer
  // must have been seen.
  std::vector<trace::Array> arrays();

  using Bytes = RecordLayout::Bytes;
  Bytes expected_bytes() const { return layout_.expected_bytes(); }

 private:
  // What was collected of a stacked array.
  struct Stack {
    const RecordLayout::Part* part;
    std::vector<float> floats;
    std::vector<std::int32_t> integers;
  };

  void note(const probe::Address& address, const probe::LayerExtent& extent, const probe::LayerRequest& r);
  void put(Stack& stack, const probe::Address& address, const Seen& seen);
  trace::Array stacked(const Stack& stack) const;

  RecordLayout layout_;
  SetsOfEnd sets_;                            // asked for last
  std::vector<std::int32_t> tokens_by_step_;  // [S, T]
  std::vector<std::int32_t> group_sizes_;     // [S, G]
  std::vector<Stack> stacks_;
  std::vector<trace::Array> large_;
  std::vector<bool> taken_;  // [S, L], then [S]: forwards as a whole
};

}  // namespace buoy::observe
