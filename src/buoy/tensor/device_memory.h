#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "buoy/tensor/stream.h"

namespace buoy {

// Memory of the device, uninitialised, aligned to 256 bytes. Grows but never shrinks: made once, used in a
// loop.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  explicit DeviceMemory(std::size_t bytes) { reserve(bytes); }
  ~DeviceMemory();
  DeviceMemory(DeviceMemory&& other) noexcept;
  DeviceMemory& operator=(DeviceMemory&& other) noexcept;

  // Room for `bytes`. Old contents are lost when it has to grow, and then the device must be idle.
  void* reserve(std::size_t bytes);
  std::size_t bytes() const { return bytes_; }
  void* data() const { return data_; }
  template <typename T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// Host memory the device copies from and to while the host goes on.
class PinnedMemory {
 public:
  PinnedMemory() = default;
  explicit PinnedMemory(std::size_t bytes) { reserve(bytes); }
  ~PinnedMemory();
  PinnedMemory(PinnedMemory&& other) noexcept;
  PinnedMemory& operator=(PinnedMemory&& other) noexcept;

  void* reserve(std::size_t bytes);
  std::size_t bytes() const { return bytes_; }
  void* data() const { return data_; }
  template <typename T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// All of these are queued on the stream; with pageable host memory the host waits.
void copy_to_device(const Stream& stream, void* device, const void* host, std::size_t bytes);
void copy_to_host(const Stream& stream, void* host, const void* device, std::size_t bytes);
// A few bytes, a multiple of four, to pinned memory: written there by the card itself, so that they wait for
// no copy that is under way.
void write_to_host(const Stream& stream, void* pinned, const void* device, std::size_t bytes);
// Several of them at once.
struct HostWrite {
  void* pinned;
  const void* device;
  std::size_t bytes;
};
void write_to_host(const Stream& stream, std::span<const HostWrite> writes);
// Rows of `row_bytes` that lie further apart on the device, or in host memory, than they are long.
struct RowsOfBytes {
  std::size_t rows, row_bytes, host_step, device_step;
};
void copy_rows_to_host(const Stream& stream, void* host, const void* device, const RowsOfBytes& shape);
void copy_on_device(const Stream& stream, void* to, const void* from, std::size_t bytes);
void fill_bytes(const Stream& stream, void* device, int value, std::size_t bytes);

}  // namespace buoy
