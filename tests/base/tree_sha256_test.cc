#include "buoy/base/tree_sha256.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace buoy {
namespace {

std::vector<std::byte> bytes_of(size_t size) {
  std::vector<std::byte> bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i % 251);
  return bytes;
}

// From Python: sha256(b"".join(sha256(data[i:i + 2**22]).digest() for i in range(0, len(data), 2**22))).
TEST(TreeSha256, GivesTheKnownSums) {
  EXPECT_EQ(tree_sha256_hex(bytes_of(0)), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(tree_sha256_hex(bytes_of(3)), "35f9f2930ea344618822795eeec568ae67ab2987d8b19e4591e10527baa1df3d");
  EXPECT_EQ(tree_sha256_hex(bytes_of(kTreePieceBytes)),
            "b9654428408015906b44a00935b70af33830aa344b780b0eabd535a133150d04");
  EXPECT_EQ(tree_sha256_hex(bytes_of(kTreePieceBytes + 1)),
            "4a6cc0a344febaa07772e7c974834b2fb1d24594d4ba15f27c97a54699709f44");
}

TEST(TreeSha256, IsTheSumOfTheDigestsOfThePieces) {
  const auto bytes = bytes_of(2 * kTreePieceBytes + 77);
  const std::vector<Sha256Digest> digests = {
      sha256(std::span(bytes).first(kTreePieceBytes)),
      sha256(std::span(bytes).subspan(kTreePieceBytes, kTreePieceBytes)), sha256(std::span(bytes).last(77))};
  std::vector<std::byte> joined;
  for (const auto& digest : digests) joined.insert(joined.end(), digest.begin(), digest.end());
  EXPECT_EQ(tree_sha256_hex(bytes), sha256_hex(joined));
  EXPECT_EQ(tree_sha256_hex(digests), sha256_hex(joined));
}

}  // namespace
}  // namespace buoy
