// The table of decoding options: every row is refused, dropped and bounded as it says.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "buoy/decode/options.h"
#include "decode/fake_logits.h"

namespace buoy::decode {
namespace {

using testing::expect_refused;

struct SetOne {
  void operator()(bool& value) const { value = true; }
  void operator()(std::vector<std::int32_t>& values) const { values = {1}; }
  void operator()(std::optional<std::string>& value) const { value = "random"; }
  void operator()(double& value) const { value = 0.5; }
  template <typename Value>
  void operator()(std::optional<Value>& value) const {
    (*this)(value.emplace());
  }
  template <typename Value>
  void operator()(Value& value) const {
    value = Value{1};
  }
};

DecodeOptions with_one(const DecodeOption& option) {
  DecodeOptions options;
  std::visit([&](const auto member) { SetOne{}(options.*member); }, option.field);
  return options;
}

ModelConfig config_of(Family family) {
  ModelConfig config;
  config.family = family;
  config.vocabulary = 10;
  return config;
}

constexpr Family kFamilies[] = {Family::kLlada,    Family::kDream,    Family::kLlama,    Family::kQwen2,
                                Family::kQwen3,    Family::kSdar,     Family::kFastDllm, Family::kA2dQwen3,
                                Family::kA2dQwen2, Family::kNemotron, Family::kLlada2,   Family::kRnd1};

TEST(OptionTable, KeysAreThereOnceAndFound) {
  std::set<std::string_view> keys;
  for (const auto& option : kDecodeOptions) {
    EXPECT_TRUE(keys.insert(option.key).second) << option.key;
    EXPECT_EQ(&find_option(option.key), &option);
    EXPECT_FALSE(option.help.empty()) << option.key;
    EXPECT_NE(option.loops, 0u) << option.key;
  }
}

TEST(OptionTable, WholeNumbersReachToTheEndsOfTheBounds) {
  const auto ends = []<typename Integer>(const Bounds& bounds, Integer) {
    const auto range = whole_numbers<Integer>(bounds);
    return std::pair(range.least, range.most);
  };
  using Small = std::numeric_limits<std::int32_t>;
  using Large = std::numeric_limits<std::int64_t>;
  using Unsigned = std::numeric_limits<std::uint64_t>;
  EXPECT_EQ(ends(kAny, std::int32_t{}), std::pair(Small::min(), Small::max()));
  EXPECT_EQ(ends(kAny, std::int64_t{}), std::pair(Large::min(), Large::max()));
  EXPECT_EQ(ends(kAny, std::uint64_t{}), std::pair(Unsigned::min(), Unsigned::max()));
  EXPECT_EQ(ends({.least = -3, .most = 5}, std::int32_t{}), std::pair(-3, 5));
  EXPECT_EQ(ends({.least = -3, .most = 5}, std::uint64_t{}), std::pair(std::uint64_t{0}, std::uint64_t{5}));
  EXPECT_EQ(ends({.least = -3, .most = 5, .above_least = true, .below_most = true}, std::int32_t{}),
            std::pair(-2, 4));
  EXPECT_EQ(ends({.least = -2.5, .most = 2.5}, std::int32_t{}), std::pair(-2, 2));
  EXPECT_EQ(ends(kPositive, std::int32_t{}), std::pair(1, Small::max()));
  EXPECT_EQ(ends(kToken, std::int32_t{}), std::pair(0, Small::max()));
}

TEST(OptionTable, AnOptionOfAnotherLoopIsRefusedByItsKeyAndLeftOutWhereLoopsAreCompared) {
  for (const auto& option : kDecodeOptions) {
    for (const Family family : kFamilies) {
      const auto options = with_one(option);
      const std::string field = "`" + std::string(option.key) + "`";
      ASSERT_TRUE(is_given(option, options)) << option.key;
      // A rule that is none of the family's belongs to another model.
      const bool fits = (option.loops & loops_of(family)) != 0 && option.key != "decoding_rule";
      if ((option.loops & loops_of(family)) == 0)
        expect_refused(field, [&] { check_options(config_of(family), options); });
      EXPECT_NO_THROW(check_options(config_of(family), fitting(family, options))) << option.key;
      if (!fits) {
        EXPECT_FALSE(is_given(option, fitting(family, options))) << option.key;
      }
      if (fits) {
        EXPECT_TRUE(is_given(option, fitting(family, options))) << option.key;
      }
    }
  }
}

TEST(OptionTable, ValuesOutOfBoundsAreRefusedByTheirKey) {
  for (const auto& option : kDecodeOptions) {
    const auto field = "`" + std::string(option.key) + "`";
    const auto [least, most, above, below, token] = option.bounds;
    if (std::isfinite(least)) {
      expect_refused(field, [&] { check_bounds(option.key, least - 1); });
      if (above) expect_refused(field, [&] { check_bounds(option.key, least); });
      if (!above) {
        EXPECT_NO_THROW(check_bounds(option.key, least)) << field;
      }
    }
    if (std::isfinite(most)) {
      expect_refused(field, [&] { check_bounds(option.key, most + 1); });
      if (below) expect_refused(field, [&] { check_bounds(option.key, most); });
      if (!below) {
        EXPECT_NO_THROW(check_bounds(option.key, most)) << field;
      }
    }
    if (!token) expect_refused(field, [&] { check_bounds(option.key, std::nan("")); });
  }
  DecodeOptions tokens;
  tokens.eos_tokens = {3, 10};
  expect_refused("`eos_tokens`", [&] { check_options(config_of(Family::kLlama), tokens); });
}

}  // namespace
}  // namespace buoy::decode
