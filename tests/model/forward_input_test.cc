// What a forward pass refuses, and that refusing leaves nothing behind.

#include <gtest/gtest.h>

#include "buoy/base/error.h"
#include "model/golden_run.h"

namespace buoy {
namespace {

using testing::GoldenRun;
using testing::Ids;

TEST(ForwardInput, IdsMustBeInTheVocabulary) {
  GoldenRun run("llama3-f32");
  const auto vocabulary = static_cast<std::int32_t>(run.model().config().vocabulary);
  EXPECT_NO_THROW(run.forward({0, vocabulary - 1}));
  for (const std::int32_t bad : {-1, vocabulary, 2147483647, -2147483647 - 1}) {
    try {
      run.forward({1, 2, bad});
      ADD_FAILURE() << bad << " was accepted";
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find(std::to_string(bad)), std::string::npos) << error.what();
    }
  }
}

TEST(ForwardInput, EverySequenceNeedsATokenAndABatchASequence) {
  GoldenRun run("llama3-f32");
  EXPECT_THROW(run.forward(Ids{}), UsageError);
  const Ids one = {1};
  EXPECT_THROW(run.forward({{one, {}, nullptr}, {{}, {}, nullptr}}), UsageError);
  EXPECT_THROW(run.forward(std::vector<model::SequenceInput>{}), InternalError);
}

TEST(ForwardInput, LogitRowsMustExist) {
  GoldenRun run("llama3-f32");
  const Ids ids = {1, 2, 3}, past_the_end = {3}, negative = {-1};
  EXPECT_THROW(run.forward({{ids, past_the_end, nullptr}}), InternalError);
  EXPECT_THROW(run.forward({{ids, negative, nullptr}}), InternalError);
}

TEST(ForwardInput, ARefusedPassLeavesTheCacheAsItWas) {
  GoldenRun run("qwen3-f32");
  auto cache = run.model().new_cache(), untouched = run.model().new_cache();
  run.forward({1, 2, 3}, &cache);
  run.forward({1, 2, 3}, &untouched);
  EXPECT_THROW(run.forward({4, -1}, &cache), UsageError);
  EXPECT_EQ(cache.length(), 3);
  EXPECT_EQ(run.forward({4, 5}, &cache), run.forward({4, 5}, &untouched));
}

}  // namespace
}  // namespace buoy
