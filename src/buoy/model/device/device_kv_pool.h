#pragma once

#include <cstdint>
#include <map>

#include "buoy/tensor/device_memory.h"

namespace buoy::model {

// Rows of keys and values of many sequences in one buffer per layer, so that one launch serves a packed
// batch. A sequence holds a stretch of rows, the same in every layer.
class DeviceKvPool {
 public:
  DeviceKvPool(std::int64_t layers, std::int64_t width) : layers_(layers), width_(width) {}

  std::int64_t rows() const { return rows_; }
  std::uint16_t* keys(std::int64_t layer) const { return part(2 * layer); }        // bf16 [rows, width]
  std::uint16_t* values(std::int64_t layer) const { return part(2 * layer + 1); }  // bf16 [rows, width]

  // First row of a free stretch; grows when none is long enough (then the buffers move).
  std::int64_t take(std::int64_t rows);
  void give_back(std::int64_t first, std::int64_t rows);
  // In every layer.
  void copy_rows(std::int64_t from, std::int64_t to, std::int64_t rows);

 private:
  std::uint16_t* part(std::int64_t number) const {
    return memory_.as<std::uint16_t>() + number * rows_ * width_;
  }
  void grow(std::int64_t rows);

  std::int64_t layers_, width_;
  std::int64_t rows_ = 0;
  DeviceMemory memory_;                        // [layers, keys and values, rows, width]
  std::map<std::int64_t, std::int64_t> free_;  // first row and length of every free stretch
};

}  // namespace buoy::model
