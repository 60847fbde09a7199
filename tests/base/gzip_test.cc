#include "buoy/base/file/gzip.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include "buoy/base/error.h"
#include "support/fails_with.h"
#include "support/temp_folder.h"

namespace buoy {
namespace {

using testing::fails_with;

std::string packed(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(::deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(::deflateBound(&stream, static_cast<uLong>(text.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(::deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  ::deflateEnd(&stream);
  return out;
}

TEST(Gzip, PlainAndPackedFilesReadAlike) {
  const testing::TempFolder folder;
  std::string text;
  for (int i = 0; i < 50000; ++i) text += std::to_string(i * 7919) + '\n';
  for (const std::string& one : {std::string(), std::string("a"), text}) {
    EXPECT_EQ(read_plain_or_gzip(folder.write("plain", one)), one);
    EXPECT_EQ(read_plain_or_gzip(folder.write("packed", packed(one))), one);
  }
  EXPECT_EQ(read_plain_or_gzip(folder.write("two", packed("one ") + packed("two"))), "one two");
}

TEST(Gzip, BrokenFilesAreRefused) {
  const testing::TempFolder folder;
  std::string text(100000, 'x');
  text += "end";  // g++ 12 warns of a sum of both, wrongly
  const std::string whole = packed(text);
  EXPECT_TRUE(fails_with<InputError>(
      [&] { read_plain_or_gzip(folder.write("cut", whole.substr(0, whole.size() - 9))); },
      {"cut", "expected gzip data to its end"}));
  std::string flipped = whole;
  flipped[flipped.size() - 6] ^= 1;  // of the checksum
  EXPECT_TRUE(fails_with<InputError>([&] { read_plain_or_gzip(folder.write("flipped", flipped)); },
                                     {"flipped", "expected gzip data"}));
  EXPECT_TRUE(fails_with<InputError>([&] { read_plain_or_gzip(folder.write("tail", whole + "x")); },
                                     {"tail", "expected gzip data"}));
  EXPECT_TRUE(fails_with<InputError>([&] { read_plain_or_gzip(folder.write("large", whole), 99999); },
                                     {"large", "at most 99999 bytes when unpacked"}));
}

}  // namespace
}  // namespace buoy
