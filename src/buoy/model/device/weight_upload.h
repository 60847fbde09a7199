#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "buoy/tensor/device_memory.h"
#include "buoy/tensor/thread_pool.h"
#include "buoy/tensor/weight.h"

namespace buoy::model {

// Moves weights from the mapped checkpoint to the device: threads read and convert one pinned piece while the
// other is on its way.
class WeightUpload {
 public:
  WeightUpload();

  // As bf16; `device` has room for weight.size() of them. Returns where the next one may go.
  std::uint16_t* matrix(const Weight& weight, const std::uint16_t* device);
  // Two weights of the same shape: so many rows of one, then as many of the other, and so on.
  void taking_turns(const Weight& one, const Weight& other, std::int64_t rows, const std::uint16_t* device);
  void vector(std::span<const float> values, const float* device);
  // When all has arrived: the pinned memory it went through, for another use.
  std::vector<PinnedMemory> finish();

 private:
  struct Piece {
    PinnedMemory memory;
    Event sent;
  };

  // Writes `count` numbers of the matrix from number `first` on, in bf16.
  using Fill = std::function<void(std::int64_t first, std::int64_t count, std::uint16_t* out)>;
  // `unit` numbers are one thread's task and travel together.
  void send(std::int64_t count, std::int64_t unit, std::uint16_t* to, const Fill& fill);

  ThreadPool threads_;
  Stream stream_;
  std::vector<Piece> pieces_;
  std::size_t next_ = 0;
};

}  // namespace buoy::model
