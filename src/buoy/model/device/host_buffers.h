#pragma once

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "buoy/tensor/device_memory.h"
#include "buoy/tensor/stream.h"

namespace buoy::model {

// Pinned memory that a layer's results are copied to.
class HostBuffer {
 public:
  HostBuffer() = default;
  explicit HostBuffer(std::span<std::byte> part) : data_(part.data()), bytes_(part.size()) {}

  void reserve(std::size_t bytes);
  float* data() const { return reinterpret_cast<float*>(data_); }

  // Behind the last copy to it, and maybe others; none: nothing was copied yet.
  std::shared_ptr<const Event> arrived;

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  PinnedMemory own_;  // where it is no part of another's
};

// Buffers that are lent and come back, from any thread, when the last who holds one lets go. Where all are
// out, whoever asks waits.
class HostBuffers : public std::enable_shared_from_this<HostBuffers> {
 public:
  // So many at least, and more while all together are no larger than `most_bytes`. Parts of `given` are lent
  // first: pinning memory takes a millisecond for every 3 MB, in which the card may run out of work.
  HostBuffers(std::size_t least, std::size_t most_bytes, std::vector<PinnedMemory> given)
      : least_(least), most_bytes_(most_bytes), given_(std::move(given)) {}

  std::shared_ptr<HostBuffer> lend(std::size_t bytes);

 private:
  std::unique_ptr<HostBuffer> make(std::size_t bytes);
  void give_back(std::unique_ptr<HostBuffer> buffer);

  const std::size_t least_, most_bytes_;
  std::vector<PinnedMemory> given_;
  std::size_t of_given_ = 0, bytes_of_it_ = 0;  // up to where parts of it were made buffers
  std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<std::unique_ptr<HostBuffer>> free_;
  std::size_t made_ = 0;
};

}  // namespace buoy::model
