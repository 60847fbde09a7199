#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "buoy/tensor/device_memory.h"
#include "buoy/tensor/stream.h"

namespace buoy::model {

// Pinned memory that a layer's results are copied to.
struct HostBuffer {
  PinnedMemory memory;
  Event arrived{Event::Wait::kAsleep};
};

// Buffers that are lent and come back, from any thread, when the last who holds one lets go. Where all are
// out, whoever asks waits.
class HostBuffers : public std::enable_shared_from_this<HostBuffers> {
 public:
  // So many at least, and more while all together are no larger than `most_bytes`.
  HostBuffers(std::size_t least, std::size_t most_bytes) : least_(least), most_bytes_(most_bytes) {}

  std::shared_ptr<HostBuffer> lend(std::size_t bytes);

 private:
  void give_back(std::unique_ptr<HostBuffer> buffer);

  const std::size_t least_, most_bytes_;
  std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<std::unique_ptr<HostBuffer>> free_;
  std::size_t made_ = 0;
};

}  // namespace buoy::model
