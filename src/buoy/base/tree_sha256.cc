#include "buoy/base/tree_sha256.h"

#include <algorithm>
#include <vector>

namespace buoy {

std::string tree_sha256_hex(std::span<const Sha256Digest> pieces) {
  Sha256 sum;
  for (const Sha256Digest& piece : pieces) sum.update(piece);
  return sum.hex();
}

std::string tree_sha256_hex(std::span<const std::byte> bytes) {
  std::vector<Sha256Digest> pieces;
  for (; !bytes.empty(); bytes = bytes.subspan(std::min(kTreePieceBytes, bytes.size()))) {
    pieces.push_back(sha256(bytes.first(std::min(kTreePieceBytes, bytes.size()))));
  }
  return tree_sha256_hex(pieces);
}

}  // namespace buoy
