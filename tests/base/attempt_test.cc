#include "buoy/base/attempt.h"

#include <gtest/gtest.h>

#include <new>

#include "buoy/base/error.h"

namespace buoy {
namespace {

TEST(Attempt, SaysWhatWentWrongAndCallsABugABug) {
  EXPECT_EQ(attempt([] {}), std::nullopt);
  EXPECT_EQ(attempt([] { throw InputError("file: expected a, found b"); }), "file: expected a, found b");
  EXPECT_EQ(attempt([] { throw UsageError("--head"); }), "--head");
  EXPECT_EQ(attempt([] { throw IoError("disk"); }), "disk");
  EXPECT_EQ(attempt([] { throw std::bad_alloc(); }), "out of memory");
  EXPECT_EQ(attempt([] { throw InternalError("x.cc:1: broken promise"); }),
            "a bug in Buoy, please report it: x.cc:1: broken promise");
  EXPECT_EQ(attempt([] { throw std::out_of_range("at"); }), "a bug in Buoy, please report it: at");
}

}  // namespace
}  // namespace buoy
