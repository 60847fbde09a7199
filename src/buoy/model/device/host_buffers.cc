#include "buoy/model/device/host_buffers.h"

namespace buoy::model {

void HostBuffer::reserve(std::size_t bytes) {
  if (bytes <= bytes_) return;
  data_ = static_cast<std::byte*>(own_.reserve(bytes));
  bytes_ = bytes;
}

// A part of what was given, where there is room.
std::unique_ptr<HostBuffer> HostBuffers::make(std::size_t bytes) {
  constexpr std::size_t kAligned = 256;
  for (; of_given_ < given_.size(); ++of_given_, bytes_of_it_ = 0) {
    const PinnedMemory& memory = given_[of_given_];
    if (bytes_of_it_ + bytes > memory.bytes()) continue;
    std::byte* part = memory.as<std::byte>() + bytes_of_it_;
    bytes_of_it_ += (bytes + kAligned - 1) / kAligned * kAligned;
    return std::make_unique<HostBuffer>(std::span(part, bytes));
  }
  return std::make_unique<HostBuffer>();
}

std::shared_ptr<HostBuffer> HostBuffers::lend(std::size_t bytes) {
  std::unique_ptr<HostBuffer> buffer;
  {
    std::unique_lock lock(mutex_);
    returned_.wait(lock,
                   [&] { return !free_.empty() || made_ < least_ || (made_ + 1) * bytes <= most_bytes_; });
    if (free_.empty()) {
      ++made_;
      buffer = make(bytes);
    } else {
      buffer = std::move(free_.back());
      free_.pop_back();
    }
  }
  buffer->reserve(bytes);
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
