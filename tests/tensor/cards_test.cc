// Which cards a process sees, and which it takes: from the variable alone.

#include <gtest/gtest.h>

#include "buoy/base/error.h"
#include "buoy/tensor/device.h"

namespace buoy {
namespace {

using Names = std::vector<std::string>;

TEST(Cards, AreThoseOfTheVariableOrOfTheMachine) {
  EXPECT_EQ(visible_cards(nullptr, 3), (Names{"0", "1", "2"}));
  EXPECT_EQ(visible_cards("2,0", 8), (Names{"2", "0"}));
  EXPECT_EQ(visible_cards("GPU-1f,MIG-22", 8), (Names{"GPU-1f", "MIG-22"}));
  EXPECT_EQ(visible_cards("", 8), Names{});
  EXPECT_EQ(visible_cards("1,-1,2", 8), Names{"1"});
}

TEST(Cards, TheLocalRankChoosesModuloTheVisibleOnes) {
  ::setenv("CUDA_VISIBLE_DEVICES", "4,5,7", 1);
  choose_card(5);
  EXPECT_STREQ(::getenv("CUDA_VISIBLE_DEVICES"), "7");
  ::setenv("CUDA_VISIBLE_DEVICES", "", 1);
  choose_card(5);
  EXPECT_STREQ(::getenv("CUDA_VISIBLE_DEVICES"), "");
  ::unsetenv("CUDA_VISIBLE_DEVICES");
}

TEST(Cards, OneThatIsNotThereIsRefused) {
  ::setenv("CUDA_VISIBLE_DEVICES", "4,5", 1);
  EXPECT_THROW(device_from_name("cuda:2"), UsageError);
  EXPECT_THROW(device_from_name("cuda:x"), UsageError);
  EXPECT_THROW(device_from_name("cuda:"), UsageError);
  ::unsetenv("CUDA_VISIBLE_DEVICES");
}

}  // namespace
}  // namespace buoy
