#pragma once

#include <pybind11/numpy.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace buoy::python {

// An array that owns what it shows: nothing is copied.
template <typename T>
pybind11::array_t<T> owning(std::vector<T>&& values, std::vector<std::int64_t> shape) {
  auto* owner = new std::vector<T>(std::move(values));
  const pybind11::capsule free(owner, [](void* held) { delete static_cast<std::vector<T>*>(held); });
  return pybind11::array_t<T>(std::move(shape), owner->data(), free);
}

}  // namespace buoy::python
