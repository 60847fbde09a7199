#include "buoy/base/sha256.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "buoy/base/error.h"
#include "support/temp_folder.h"

namespace buoy {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// FIPS 180-4 and NIST's example messages; the last three from sha256sum.
TEST(Sha256, GivesTheKnownSums) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_hex(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  EXPECT_EQ(sha256_hex(std::string(55, 'b')),
            "eb2c86e932179f4ba13fe8715a26124b77d6bad290b9b4c1cc140cf633300c19");
  EXPECT_EQ(sha256_hex(std::string(64, 'b')),
            "a0fab1377f49a759b57f63318262ebe89fabfc990e8e93ceac2984561482b9d4");
  EXPECT_EQ(sha256_hex(std::string_view("\0\xFF\n", 3)),
            "712450d3c4a79eea9509e75dc1dacdeff58034df538536cfae2da882bd8a0c50");
}

TEST(Sha256, DoesNotCareHowTheBytesArrive) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += static_cast<char>(i * 7);
  for (size_t length = 0; length <= text.size(); length += 1 + length / 40) {
    const auto bytes = bytes_of(text).first(length);
    const std::string whole = sha256_hex(bytes);
    for (const size_t piece : {1, 3, 55, 56, 63, 64, 65, 128}) {
      Sha256 sum;
      for (size_t at = 0; at < length; at += piece) {
        sum.update(bytes.subspan(at, std::min<size_t>(piece, length - at)));
      }
      ASSERT_EQ(sum.hex(), whole) << length << " bytes in pieces of " << piece;
    }
  }
}

TEST(Sha256, TheProcessorsInstructionsGiveTheSame) {
  const Sha256Blocks native = sha256_blocks_native();
  if (native == nullptr) GTEST_SKIP() << "this processor has none";
  std::vector<std::byte> bytes(64 * 40 + 1);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * i + i / 7);
  for (const size_t blocks : {0, 1, 2, 3, 40}) {
    for (const size_t offset : {0, 1}) {  // data need not be aligned
      Sha256State a = {1, 2, 3, 4, 5, 6, 7, 0x80000000}, b = a;
      sha256_blocks_portable(a, bytes.data() + offset, blocks);
      native(b, bytes.data() + offset, blocks);
      EXPECT_EQ(a, b) << blocks;
    }
  }
}

// The example messages of FIPS 180-4 that fill one block, padded by hand, through both.
TEST(Sha256, BothImplementationsKnowTheExampleOfTheStandard) {
  std::vector<std::byte> block(64);
  const std::string_view abc = "abc";
  std::transform(abc.begin(), abc.end(), block.begin(), [](char c) { return static_cast<std::byte>(c); });
  block[3] = std::byte{0x80}, block[63] = std::byte{24};
  const Sha256State expected = {0xba7816bf, 0x8f01cfea, 0x414140de, 0x5dae2223,
                                0xb00361a3, 0x96177a9c, 0xb410ff61, 0xf20015ad};
  for (const Sha256Blocks take : {&sha256_blocks_portable, sha256_blocks_native()}) {
    if (take == nullptr) continue;
    Sha256State state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    take(state, block.data(), 1);
    EXPECT_EQ(state, expected);
  }
}

TEST(Sha256, CanBeAskedInBetween) {
  Sha256 sum;
  sum.update(bytes_of("ab"));
  EXPECT_EQ(sum.hex(), sha256_hex("ab"));
  sum.update(bytes_of("c"));
  EXPECT_EQ(sum.hex(), sha256_hex("abc"));
}

TEST(Sha256, OfAFile) {
  const testing::TempFolder folder;
  EXPECT_EQ(sha256_of_file(folder.write("empty", "")), sha256_hex(""));
  EXPECT_EQ(sha256_of_file(folder.write("abc", "abc")), sha256_hex("abc"));
  EXPECT_THROW(sha256_of_file(folder.path() / "absent"), InputError);
}

TEST(Sha256, KnowsTheFormOfASum) {
  EXPECT_TRUE(is_sha256_hex(sha256_hex("x")));
  EXPECT_FALSE(is_sha256_hex(""));
  EXPECT_FALSE(is_sha256_hex(std::string(63, 'a')));
  EXPECT_FALSE(is_sha256_hex(std::string(64, 'A')));
  EXPECT_FALSE(is_sha256_hex(std::string(64, 'g')));
}

}  // namespace
}  // namespace buoy
