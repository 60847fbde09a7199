#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <utility>

#include "buoy/base/error.h"

namespace buoy {

// Owning, aligned to a cache line, uninitialised, grows but never shrinks: made once, used in a loop.
template <typename T>
class Buffer {
 public:
  static constexpr size_t kAlignment = 64;

  Buffer() = default;
  explicit Buffer(size_t count) { reserve(count); }
  Buffer(Buffer&& other) noexcept
      : data_(std::move(other.data_)), capacity_(std::exchange(other.capacity_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    data_ = std::move(other.data_);
    capacity_ = std::exchange(other.capacity_, 0);
    return *this;
  }

  // Room for `count` elements. Old contents are lost when it has to grow.
  T* reserve(size_t count) {
    if (count > capacity_) {
      data_.reset();
      capacity_ = 0;
      if (count > (SIZE_MAX - kAlignment) / sizeof(T)) throw std::bad_alloc();
      const size_t bytes = (count * sizeof(T) + kAlignment - 1) / kAlignment * kAlignment;
      void* fresh = std::aligned_alloc(kAlignment, bytes);
      if (fresh == nullptr) throw std::bad_alloc();
      data_.reset(static_cast<T*>(fresh));
      capacity_ = count;
    }
    return data_.get();
  }

  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  size_t capacity() const { return capacity_; }
  T& operator[](size_t i) { return data_.get()[i]; }
  const T& operator[](size_t i) const { return data_.get()[i]; }

 private:
  struct Free {
    void operator()(T* pointer) const { std::free(pointer); }
  };
  std::unique_ptr<T, Free> data_;
  size_t capacity_ = 0;
};

}  // namespace buoy
