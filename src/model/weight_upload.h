#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tensor/device_memory.h"
#include "tensor/thread_pool.h"
#include "tensor/weight.h"

namespace buoy::model {

// Moves weights from the mapped checkpoint to the GPU: threads read and convert one pinned piece while the
// other is on its way.
class WeightUpload {
 public:
  WeightUpload();

  // As bf16; `device` has room for weight.size() of them. Returns where the next one may go.
  std::uint16_t* matrix(const Weight& weight, const std::uint16_t* device);
  void vector(std::span<const float> values, const float* device);
  void finish() { stream_.synchronize(); }

 private:
  struct Piece {
    PinnedMemory memory;
    Event sent;
  };

  ThreadPool threads_;
  Stream stream_;
  std::vector<Piece> pieces_;
  std::size_t next_ = 0;
};

}  // namespace buoy::model
