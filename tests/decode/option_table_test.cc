// The table of decoding options: every row is refused, dropped and bounded as it says.

#include <gtest/gtest.h>

#include <cmath>
#include <set>

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

constexpr Family kFamilies[] = {Family::kLlada, Family::kDream, Family::kLlama, Family::kQwen2,
                                Family::kQwen3};

TEST(OptionTable, KeysAreThereOnceAndFound) {
  std::set<std::string_view> keys;
  for (const auto& option : kDecodeOptions) {
    EXPECT_TRUE(keys.insert(option.key).second) << option.key;
    EXPECT_EQ(&find_option(option.key), &option);
    EXPECT_FALSE(option.help.empty()) << option.key;
    EXPECT_NE(option.loops, 0u) << option.key;
  }
}

TEST(OptionTable, AnOptionOfAnotherLoopIsRefusedByItsKeyAndLeftOutWhereLoopsAreCompared) {
  for (const auto& option : kDecodeOptions) {
    for (const Family family : kFamilies) {
      const auto options = with_one(option);
      const std::string field = "`" + std::string(option.key) + "`";
      ASSERT_TRUE(is_given(option, options)) << option.key;
      const bool fits = (option.loops & loops_of(family)) != 0;
      if (!fits) expect_refused(field, [&] { check_options(config_of(family), options); });
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
