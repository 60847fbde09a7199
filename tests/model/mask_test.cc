// Which tokens a row sees, by what changing a token changes: under every mask a config may state.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "buoy/base/error.h"
#include "model/golden_run.h"
#include "support/fails_with.h"
#include "support/temp_folder.h"
#include "support/tiny_checkpoint.h"

namespace buoy {
namespace {

using testing::Bits;
using testing::fails_with;
using testing::GoldenRun;
using testing::Ids;

constexpr std::int32_t kTokens = 12;

GoldenRun tiny(Family family, const char* mask) {
  const testing::TempFolder folder;
  testing::TinyCheckpoint checkpoint(family);
  if (mask != nullptr) checkpoint.config["attention_mask_kind"] = mask;
  checkpoint.write(folder.path());
  return GoldenRun(model::Model::load(folder.path()));
}

struct MaskCase {
  const char* label;
  Family family;
  const char* mask;  // null: not stated
  std::int64_t prefix;
  bool full;

  bool sees(std::int64_t row, std::int64_t key) const { return full || key <= row || key < prefix; }
};

std::vector<MaskCase> cases() {
  return {{"causal_next", Family::kLlama, "causal", 5, false},
          {"llama", Family::kLlama, nullptr, 5, false},
          {"causal_masked", Family::kLlada, "causal", 5, false},
          {"full_masked", Family::kLlada, "full", 5, true},
          {"llada", Family::kLlada, nullptr, 5, true},
          {"dream_causal", Family::kDream, "causal", 5, false},
          {"prefix_next_0", Family::kLlama, "prefix", 0, false},
          {"prefix_next_1", Family::kLlama, "prefix", 1, false},
          {"prefix_next_5", Family::kLlama, "prefix", 5, false},
          {"prefix_next_all", Family::kLlama, "prefix", kTokens, false},
          {"prefix_qwen3", Family::kQwen3, "prefix", 7, false}};
}

class Mask : public ::testing::TestWithParam<MaskCase> {
 protected:
  Mask() : run_(tiny(GetParam().family, GetParam().mask)), ids_(run_.random_ids(kTokens, 3)) {}

  Bits logits(const Ids& ids) {
    const Ids rows = testing::all_rows(ids.size());
    return run_.forward({{ids, rows, nullptr, {}, GetParam().prefix}});
  }
  bool row_differs(const Bits& a, const Bits& b, std::int64_t row) {
    const auto width = static_cast<size_t>(run_.model().config().vocabulary);
    const auto at = [&](const Bits& bits) {
      return bits.numbers.begin() + row * static_cast<std::int64_t>(width);
    };
    return !std::equal(at(a), at(a) + static_cast<std::int64_t>(width), at(b));
  }

  GoldenRun run_;
  Ids ids_;
};

TEST_P(Mask, ARowChangesWithTheTokensItSeesAndWithNoOther) {
  // The prefix is a fact of decoding: a model with another mask is told it, too, and ignores it.
  MaskCase c = GetParam();
  if (c.mask == nullptr || std::string(c.mask) != "prefix") c.prefix = 0;
  const Bits before = logits(ids_);
  for (std::int32_t key = 0; key < kTokens; ++key) {
    Ids changed = ids_;
    changed[static_cast<size_t>(key)] = (changed[static_cast<size_t>(key)] + 7) % 32;
    const Bits after = logits(changed);
    for (std::int64_t row = 0; row < kTokens; ++row)
      EXPECT_EQ(row_differs(before, after, row), c.sees(row, key)) << "row " << row << ", token " << key;
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, Mask, ::testing::ValuesIn(cases()),
                         [](const auto& info) { return std::string(info.param.label); });

// Prompts of different lengths in one batch, then token by token.
TEST(PrefixMask, FromACacheAndPackedEqualsTheWholeRowToTheBit) {
  GoldenRun run = tiny(Family::kLlama, "prefix");
  const Ids long_row = run.random_ids(40, 1), short_row = run.random_ids(9, 2);
  const auto whole = [&](const Ids& ids, std::int64_t prefix) {
    const Ids last = {static_cast<std::int32_t>(ids.size()) - 1};
    return run.forward({{ids, last, nullptr, {}, prefix}});
  };
  auto long_cache = run.model().new_cache(), short_cache = run.model().new_cache();
  const Ids long_prompt(long_row.begin(), long_row.begin() + 35),
      short_prompt(short_row.begin(), short_row.begin() + 4);
  run.forward({{long_prompt, {}, &long_cache, {}, 35}, {short_prompt, {}, &short_cache, {}, 4}});
  for (std::int64_t i = 0; i < 5; ++i) {
    const Ids a = {long_row[static_cast<size_t>(35 + i)]}, b = {short_row[static_cast<size_t>(4 + i)]},
              row = {0};
    Bits expected = whole(Ids(long_row.begin(), long_row.begin() + 36 + i), 35);
    expected.append(whole(Ids(short_row.begin(), short_row.begin() + 5 + i), 4));
    // Once the prompt is in the cache, its length may be left out.
    const std::optional<std::int64_t> prefix = i % 2 == 0 ? std::optional<std::int64_t>(4) : std::nullopt;
    EXPECT_EQ(run.forward({{a, row, &long_cache, {}, 35}, {b, row, &short_cache, {}, prefix}}), expected)
        << i;
  }
}

TEST(PrefixMask, OfAllTokensIsWhatAnUnstatedPrefixMeans) {
  GoldenRun run = tiny(Family::kLlama, "prefix"), causal = tiny(Family::kLlama, "causal");
  const Ids ids = run.random_ids(10, 4), rows = testing::all_rows(10);
  EXPECT_EQ(run.forward(ids), run.forward({{ids, rows, nullptr, {}, 10}}));
  EXPECT_EQ(run.forward({{ids, rows, nullptr, {}, 0}}), causal.forward(ids));
  EXPECT_FALSE(run.forward(ids) == causal.forward(ids));
}

TEST(PrefixMask, APrefixMustBeThereAsAWhole) {
  GoldenRun run = tiny(Family::kLlama, "prefix"), causal = tiny(Family::kLlama, nullptr);
  const Ids ids = {1, 2, 3};
  auto cache = run.model().new_cache();
  EXPECT_TRUE(fails_with<UsageError>(
      [&] {
        run.forward({{ids, {}, &cache, {}, 4}});
      },
      {"prefix: expected 0 to 3 tokens", "found 4"}));
  EXPECT_TRUE(fails_with<UsageError>([&] { run.forward({{ids, {}, nullptr, {}, -1}}); }, {"found -1"}));
  run.forward({{ids, {}, &cache, {}, 3}});
  EXPECT_TRUE(fails_with<UsageError>(
      [&] {
        run.forward({{ids, {}, &cache, {}, 6}});
      },
      {"0 to 3", "found 6"}));
  EXPECT_EQ(cache.length(), 3);
  EXPECT_NO_THROW(causal.forward({{ids, {}, nullptr, {}, 6}}));
}

}  // namespace
}  // namespace buoy
