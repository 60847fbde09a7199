#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "buoy/base/file/placed_file.h"
#include "buoy/base/tree_sha256.h"
#include "buoy/tensor/thread_pool.h"

namespace buoy::trace {

// The tree_sha256 of a file that is being written, each byte once, in any order, by several threads. Pieces
// are summed as soon as they are whole, so that hardly anything is left to do in the end. Who writes sums up
// to about twice as much as it wrote: the last layer of a model completes most pieces, and a thread that had
// to sum all it completes would be late for ever.
class WrittenPieces {
 public:
  WrittenPieces(const PlacedFile& file, std::uint64_t size);
  // The same file when it is to be longer. No other thread writes.
  WrittenPieces(const WrittenPieces& shorter, std::uint64_t size);

  void wrote(std::uint64_t offset, std::uint64_t bytes);

  // Sums what is not summed yet, on the threads given (null: on this one).
  std::string finish(ThreadPool* threads);

 private:
  std::uint64_t begin_of(size_t piece) const { return piece * kTreePieceBytes; }
  std::uint64_t end_of(size_t piece) const;
  void sum(size_t piece);
  void sum_some(std::uint64_t wrote);

  const PlacedFile& file_;
  std::uint64_t size_;
  std::vector<std::atomic<std::uint64_t>> missing_;  // bytes, by piece
  std::vector<Sha256Digest> digests_;
  std::vector<std::uint8_t> summed_;  // by piece; bytes, since threads write neighbours at once
  std::mutex mutex_;
  std::deque<size_t> whole_;        // pieces to be summed, the oldest first
  std::uint64_t towards_next_ = 0;  // bytes written since a piece was last due
};

}  // namespace buoy::trace
