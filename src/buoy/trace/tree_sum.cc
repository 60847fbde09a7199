#include "buoy/trace/tree_sum.h"

#include <algorithm>
#include <vector>

#include "buoy/base/tree_sha256.h"
#include "buoy/tensor/thread_pool.h"

namespace buoy::trace {

std::string tree_sha256_of(const MappedFile& file, int threads) {
  const auto bytes = file.bytes();
  std::vector<Sha256Digest> digests((bytes.size() + kTreePieceBytes - 1) / kTreePieceBytes);
  const auto pieces = static_cast<std::int64_t>(digests.size());
  ThreadPool pool(static_cast<int>(std::clamp<std::int64_t>(pieces, 1, std::max(1, threads))));
  pool.run(pieces, [&](std::int64_t number, int) {
    const size_t begin = static_cast<size_t>(number) * kTreePieceBytes;
    const auto piece = bytes.subspan(begin, std::min(kTreePieceBytes, bytes.size() - begin));
    digests[static_cast<size_t>(number)] = sha256(piece);
    file.release(piece);
  });
  return tree_sha256_hex(digests);
}

}  // namespace buoy::trace
