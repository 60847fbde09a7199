// How long a study takes in many processes: by hand, and against what small runs measured.

#include <gtest/gtest.h>

#include "buoy/base/error.h"
#include "buoy/study/design/scaling.h"

namespace buoy::study {
namespace {

StudyPart part(std::uint64_t questions, double work) {
  StudyPart out;
  out.name = "part";
  out.questions = questions;
  out.work = work;
  out.bytes = 1000;
  return out;
}

TEST(Scaling, IsWhatTheLongestShareTakes) {
  const std::vector<StudyPart> parts = {part(10, 3), part(4, 1)};
  ScalingRates rates;
  rates.loading = 5;
  rates.decoding = 80;
  rates.report = 2;
  rates.merge_sample = 0.01;
  const auto one = scale(parts, rates, 0, 1);
  EXPECT_DOUBLE_EQ(one.decoding, 80);
  EXPECT_DOUBLE_EQ(one.merging, 0);
  EXPECT_DOUBLE_EQ(one.total(), 87);
  const auto four = scale(parts, rates, 0, 4);
  EXPECT_DOUBLE_EQ(four.decoding, 60 * 0.3 + 20 * 0.25);  // 3 samples of 10, 1 of 4
  EXPECT_DOUBLE_EQ(four.merging, 0.14);
}

TEST(Scaling, ASharedDiskIsReadByEveryNode) {
  ScalingRates rates;
  rates.loading = 10;
  rates.decoding = 1000;
  rates.disk = 2e9;
  rates.per_node = 8;
  const std::vector<StudyPart> parts = {part(1 << 20, 1)};
  EXPECT_DOUBLE_EQ(scale(parts, rates, 16'000'000'000, 8).loading, 10);
  EXPECT_DOUBLE_EQ(scale(parts, rates, 16'000'000'000, 64).loading, 64);
}

TEST(Scaling, StopsWhereDoublingGainsLittle) {
  ScalingRates rates;
  rates.decoding = 1000;
  rates.report = 10;
  rates.merge_sample = 0;
  const std::vector<StudyPart> parts = {part(1 << 20, 1)};
  // 1000/n + 10: from 512 to 1024 processes 11.95 to 10.98 (92%).
  EXPECT_EQ(stops_scaling_at(parts, rates, 0), 1024);
  const auto said = describe_scaling(parts, rates, 0, {1, 10});
  EXPECT_NE(said.find("10 processes: 1 min 50 s (9.2 times as fast as one)"), std::string::npos) << said;
  EXPECT_NE(said.find("stops scaling at 1024 processes"), std::string::npos) << said;
  EXPECT_NE(said.find("the report, which one process makes"), std::string::npos) << said;
}

TEST(Scaling, RatesThatSayNothingAreRefused) {
  EXPECT_THROW(parse_rates(""), UsageError);
  EXPECT_THROW(parse_rates("decoding=x"), UsageError);
  EXPECT_THROW(parse_rates("speed=4"), UsageError);
  EXPECT_EQ(parse_rates("decoding=3,per_node=4,disk=2e9").per_node, 4);
}

}  // namespace
}  // namespace buoy::study
