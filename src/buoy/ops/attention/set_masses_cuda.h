#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "buoy/tensor/device_memory.h"
#include "buoy/tensor/key_sets.h"
#include "buoy/tensor/stream.h"

namespace buoy::ops {

// The sets of a packed batch on the device, [sequence][set]; a sequence may have fewer than others, or none.
class DeviceKeySets {
 public:
  struct Packed {
    std::span<const std::shared_ptr<const KeySets>> of_sequence;  // null: none
    std::span<const std::int64_t> first_columns;                  // of each sequence
    std::span<const std::int64_t> first_close;                    // of each sequence among the close rows
    std::int64_t close_rows = 0;
  };

  // True when the memory moved.
  bool set(const Packed& packed, const Stream& stream);

  std::int64_t sets() const { return sets_; }  // of every sequence; missing ones hold no key
  std::int64_t sequences() const { return sequences_; }
  const std::int32_t* first_runs() const { return memory_.as<std::int32_t>(); }  // [sequences, sets + 1]
  const std::int32_t* first_columns() const { return first_runs() + sequences_ * (sets_ + 1); }
  const std::int32_t* sequence_of_close() const { return first_columns() + sequences_; }
  const std::int32_t* runs() const { return sequence_of_close() + close_rows_; }  // begin and end of each
  std::uint64_t bytes() const { return memory_.bytes(); }

 private:
  DeviceMemory memory_;
  std::int64_t sets_ = 0, sequences_ = 0, close_rows_ = 0;
};

struct DeviceSetMasses {
  std::int64_t heads = 0;
  // Null members are not wanted.
  const float* row_weights = nullptr;  // [close rows, heads, row_weight_stride]
  std::int64_t row_weight_stride = 0, close_rows = 0;
  float* row_masses = nullptr;      // [close rows, heads, sets]
  const float* received = nullptr;  // [groups, heads, columns]
  std::int64_t groups = 0, columns = 0;
  float* group_masses = nullptr;  // [sequences, groups, heads, sets]
};

// As set_masses. Reproducible to the bit.
void set_masses_cuda(const DeviceKeySets& sets, const DeviceSetMasses& wanted, const Stream& stream);

}  // namespace buoy::ops
