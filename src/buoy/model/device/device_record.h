#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "buoy/model/device/host_buffers.h"
#include "buoy/model/layer_wants.h"
#include "buoy/probe/probe.h"
#include "buoy/tensor/context.h"

namespace buoy::model {

// Where the numbers of one sequence lie among a layer's packed results, and what they are: all that is needed
// to make a record of them, whatever became of the batch.
struct RecordPlace {
  probe::LayerRequest request;
  probe::LayerStates states;  // sizes
  ObservationLayout layout;
  std::int64_t rows = 0, columns = 0;            // of the packed batch
  std::int64_t first_row = 0, first_column = 0;  // of the sequence in it
  std::int64_t first_close = 0, top = 0;
  std::int64_t sequence = 0, groups = 0, sets = 0;
  std::int64_t hidden = 0, first_stream = 0, lens = 0;  // of the residual stream
  probe::Address address = {};
  std::int64_t experts = 0, chosen_experts = 0;   // of the model; 0: it has none
  bool is_mixture = false;                        // whether this layer has them
  std::vector<std::int32_t> place_of_group = {};  // as LayerWants has it

  // With a context all its threads copy. Dense matrices and states are left as they are.
  void fill(const float* results, probe::LayerRecord& record, const Context* context) const;
  std::uint64_t bytes() const;

 private:
  // What keys receive is asked for and not among the results: rows give it.
  bool sums_rows() const { return request.received && layout.received == ObservationLayout::kAbsent; }
  void finish(const float* results, probe::ResidualRecord& record) const;
  void fill_routing(const float* results, probe::RoutingRecord& record) const;
};

class DeviceRecord final : public probe::PendingRecord {
 public:
  DeviceRecord(std::shared_ptr<HostBuffer> buffer, RecordPlace place)
      : buffer_(std::move(buffer)), place_(std::move(place)) {}

  void fill(probe::LayerRecord& record) override;
  std::uint64_t bytes() const override { return place_.bytes(); }

 private:
  std::shared_ptr<HostBuffer> buffer_;
  RecordPlace place_;
};

}  // namespace buoy::model
