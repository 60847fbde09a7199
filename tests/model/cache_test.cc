// Decoding with a key/value cache gives the logits of recomputing everything, to the bit, for every causal
// golden checkpoint.

#include <gtest/gtest.h>

#include "model/golden_run.h"

namespace buoy {
namespace {

using testing::Bits;
using testing::GoldenRun;
using testing::Ids;

// A bidirectional model has no use for a cache.
std::vector<std::string> causal_cases() {
  auto names = testing::golden_cases();
  std::erase_if(
      names, [](const std::string& name) { return name.starts_with("llada") || name.starts_with("dream"); });
  return names;
}

class Cache : public ::testing::TestWithParam<std::string> {};

TEST_P(Cache, FilledInChunksEqualsRecomputing) {
  GoldenRun run(GetParam());
  ASSERT_TRUE(run.causal());
  const Ids ids = run.random_ids(300, 10);
  const Bits whole = run.forward(ids);
  for (const size_t chunk : {1, 3, 40}) {
    auto cache = run.model().new_cache();
    Bits cached;
    for (size_t first = 0; first < ids.size(); first += chunk) {
      const size_t end = std::min(first + chunk, ids.size());
      cached.append(run.forward(
          Ids(ids.begin() + static_cast<std::int64_t>(first), ids.begin() + static_cast<std::int64_t>(end)),
          &cache));
      ASSERT_EQ(cache.length(), static_cast<std::int64_t>(end));
    }
    EXPECT_EQ(cached, whole) << "chunks of " << chunk;
  }
}

TEST_P(Cache, OfDifferentLengthsInOneBatchEqualsAlone) {
  GoldenRun run(GetParam());
  ASSERT_TRUE(run.causal());
  const Ids long_ids = run.random_ids(280, 11), short_ids = run.random_ids(9, 12), last = {0};
  auto long_cache = run.model().new_cache(), short_cache = run.model().new_cache();
  const auto after = [&](Ids ids) {
    ids.push_back(last[0]);
    const Ids row = {static_cast<std::int32_t>(ids.size()) - 1};
    return run.forward({{ids, row, nullptr}});
  };
  Bits expected = after(long_ids);
  expected.append(after(short_ids));
  run.forward({{long_ids, {}, &long_cache}, {short_ids, {}, &short_cache}});
  const Ids row = {0};
  EXPECT_EQ(run.forward({{last, row, &long_cache}, {last, row, &short_cache}}), expected);
}

INSTANTIATE_TEST_SUITE_P(Goldens, Cache, ::testing::ValuesIn(causal_cases()), testing::golden_case_name);

}  // namespace
}  // namespace buoy
