#include "buoy/model/device/host_buffers.h"

#include <utility>

namespace buoy::model {

std::shared_ptr<HostBuffer> HostBuffers::lend(std::size_t bytes) {
  std::unique_ptr<HostBuffer> buffer;
  {
    std::unique_lock lock(mutex_);
    returned_.wait(lock,
                   [&] { return !free_.empty() || made_ < least_ || (made_ + 1) * bytes <= most_bytes_; });
    if (free_.empty()) {
      ++made_;
      buffer = std::make_unique<HostBuffer>();
    } else {
      buffer = std::move(free_.back());
      free_.pop_back();
    }
  }
  buffer->memory.reserve(bytes);
  return {buffer.release(), [home = shared_from_this()](HostBuffer* lent) {
            home->give_back(std::unique_ptr<HostBuffer>(lent));
          }};
}

void HostBuffers::give_back(std::unique_ptr<HostBuffer> buffer) {
  {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(buffer));
  }
  returned_.notify_one();
}

}  // namespace buoy::model
