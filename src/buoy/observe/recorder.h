#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "buoy/observe/plan.h"
#include "buoy/observe/query_groups.h"
#include "buoy/probe/probe.h"
#include "buoy/trace/array.h"

namespace buoy::observe {

// The sequence a recorder watches.
struct Subject {
  std::int64_t tokens = 0;  // length of the row, all generated slots included
  std::int64_t prompt_length = 0;
  std::int64_t steps = 1;  // forwards there will be
  std::int64_t layers = 0, heads = 0, kv_heads = 0, head_dim = 0;
  std::int64_t prediction_offset = 0;  // the row that writes position p is p - offset
  std::int32_t mask_token = -1;        // -1: none
  Regions regions;
  QueryGroups groups = QueryGroups::by_state();
};

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

  // One array [S, L, ...] under construction.
  struct Stack {
    Shape cell;  // shape of one (step, layer)
    std::vector<float> values;
  };
  struct Cell {
    std::string_view name;
    Shape shape;
  };

  std::vector<Cell> cells() const;        // stacked by step and layer
  std::vector<Cell> large_cells() const;  // an array of their own for each step and layer
  void put(std::string_view name, size_t at, const std::vector<float>& values);
  void take_large(const probe::Address& address, const probe::LayerRecord& record);

  Plan plan_;
  Subject subject_;
  std::vector<std::int64_t> steps_, layers_;
  std::vector<std::int32_t> rows_;            // query rows that write the answer
  std::vector<std::int32_t> tokens_by_step_;  // [S, T]
  std::vector<std::int32_t> group_sizes_;     // [S, G]
  std::map<std::string, Stack, std::less<>> stacks_;
  std::vector<std::int32_t> top_keys_;  // [S, L, R, H, K]
  std::vector<trace::Array> large_;
  std::vector<bool> taken_;  // [S, L]
};

}  // namespace buoy::observe
