#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "buoy/tensor/dtype.h"

namespace buoy {

// A read-only weight in its stored type. Points into memory that somebody else keeps alive (the mapped
// checkpoint); an empty Weight means "this model has none".
struct Weight {
  const std::byte* data = nullptr;
  DType dtype = DType::kF32;
  std::vector<std::int64_t> shape;  // row-major

  bool empty() const { return data == nullptr; }
  std::int64_t rows() const { return shape.at(0); }
  std::int64_t columns() const { return shape.at(1); }
  std::int64_t size() const;
};

// Rows of a matrix, and one of several matrices in a tensor [count, rows, columns]: in place.
Weight rows_of(const Weight& matrix, std::int64_t first, std::int64_t count);
Weight matrix_of(const Weight& stacked, std::int64_t number);

std::string describe_shape(const std::vector<std::int64_t>& shape);  // "[4096, 12288]"

// Converts `count` stored numbers starting at element `first` of `weight` to float.
void to_float(const Weight& weight, std::int64_t first, std::int64_t count, float* out);

}  // namespace buoy
