#pragma once

#include <cstdint>
#include <vector>

#include "buoy/observe/plan.h"
#include "buoy/observe/subject.h"
#include "buoy/probe/probe.h"
#include "buoy/trace/array.h"

namespace buoy::observe {

// Collects what the plan asks for of one sequence and gives it out as the arrays of a trace sample.
class Recorder final : public probe::Probe {
 public:
  Recorder(const Plan& plan, const Subject& subject);

  probe::LayerRequest request(const probe::Address& address, const probe::LayerExtent& extent) override;
  void take(const probe::Address& address, probe::LayerRecord&& record) override;

  // Everything observed, by step and layer; the recorder is empty afterwards. Every planned step and layer
  // must have been seen.
  std::vector<trace::Array> arrays();

  // Bytes of float data one sample will hold; of these, what dense matrices and states take.
  struct Bytes {
    std::uint64_t all, large;
  };
  Bytes expected_bytes() const;

 private:
  using Shape = std::vector<std::int64_t>;

  // An array of the trace that the plan asks for. Large ones are an array of their own for each step and
  // layer, the others are stacked: [S, L, ...].
  struct Part {
    const trace::ArraySchema* schema;
    const ArraySource* source;
    Shape cell;  // of one (step, layer)
    bool large;
    std::vector<float> floats;  // of a stack
    std::vector<std::int32_t> integers;
  };

  std::vector<Part> parts() const;
  std::int64_t size_of(char letter) const;  // of a shape in the schema
  bool looks_closely() const;               // at the rows that write the answer
  void put(Part& part, const probe::Address& address, const Seen& seen);
  trace::Array stacked(const Part& part) const;

  Plan plan_;
  Subject subject_;
  std::vector<std::int64_t> steps_, layers_;
  std::vector<std::int32_t> rows_;            // query rows that write the answer
  std::vector<std::int32_t> tokens_by_step_;  // [S, T]
  std::vector<std::int32_t> group_sizes_;     // [S, G]
  std::vector<Part> parts_;
  std::vector<trace::Array> large_;
  std::vector<bool> taken_;  // [S, L]
};

}  // namespace buoy::observe
