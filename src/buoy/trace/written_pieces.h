#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "buoy/base/file/placed_file.h"
#include "buoy/base/tree_sha256.h"
#include "buoy/tensor/thread_pool.h"

namespace buoy::trace {

// The tree_sha256 of a file that is being written, each byte once, in any order, by several threads: whoever
// writes the last byte of a piece sums it, so that hardly anything is left to do in the end.
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

  const PlacedFile& file_;
  std::uint64_t size_;
  std::vector<std::atomic<std::uint64_t>> missing_;  // bytes, by piece
  std::vector<Sha256Digest> digests_;
  std::vector<std::uint8_t> summed_;  // by piece; bytes, since threads write neighbours at once
};

}  // namespace buoy::trace
