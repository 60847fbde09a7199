#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "buoy/base/sha256.h"

namespace buoy {

// A sum that several threads can make of one file: the SHA-256 of the SHA-256 digests (32 bytes each) of its
// consecutive pieces. The last piece may be shorter; a file of no bytes has no piece.
inline constexpr std::size_t kTreePieceBytes = std::size_t{4} << 20;

// Of the digests of all pieces, in order: 64 lower-case digits.
std::string tree_sha256_hex(std::span<const Sha256Digest> pieces);

// Of a whole file in memory, by one thread.
std::string tree_sha256_hex(std::span<const std::byte> bytes);

}  // namespace buoy
