#include "buoy/base/base64.h"

#include <gtest/gtest.h>

namespace buoy {
namespace {

// The test vectors of RFC 4648, section 10.
TEST(Base64, VectorsOfTheStandard) {
  const char* const kCases[][2] = {{"", ""},
                                   {"f", "Zg=="},
                                   {"fo", "Zm8="},
                                   {"foo", "Zm9v"},
                                   {"foob", "Zm9vYg=="},
                                   {"fooba", "Zm9vYmE="},
                                   {"foobar", "Zm9vYmFy"}};
  for (const auto& [text, encoded] : kCases) EXPECT_EQ(to_base64(text), encoded);
  EXPECT_EQ(to_base64("\xff\xfe\xfd"), "//79");
}

}  // namespace
}  // namespace buoy
