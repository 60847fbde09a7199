#include "buoy/base/version.h"

#include <gtest/gtest.h>

#include <regex>
#include <string>

namespace buoy {
namespace {

TEST(Version, HasThreeNumbers) {
  EXPECT_TRUE(std::regex_match(std::string(version()), std::regex("[0-9]+\\.[0-9]+\\.[0-9]+"))) << version();
}

TEST(Version, NamesACommitOrSaysThatItIsUnknown) {
  EXPECT_TRUE(std::regex_match(std::string(commit()), std::regex("[0-9a-f]{12}(-modified)?|unknown")))
      << commit();
}

}  // namespace
}  // namespace buoy
