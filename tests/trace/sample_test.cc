// What may become a sample file, and what the file looks like.

#include "buoy/trace/sample.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>

#include "buoy/base/container/safetensors.h"
#include "buoy/base/error.h"
#include "buoy/base/float16.h"
#include "buoy/trace/schema.h"
#include "support/fails_with.h"
#include "trace/small_trace.h"

namespace buoy::trace {
namespace {

using testing::fails_with;
using testing::small_sample;

SafetensorsFile parse(const std::string& bytes) {
  return parse_safetensors(std::as_bytes(std::span(bytes.data(), bytes.size())), "bytes");
}

float half_at(const SafetensorsEntry& entry, size_t index) {
  std::uint16_t bits;
  std::memcpy(&bits, entry.data.data() + 2 * index, 2);
  return f16_to_float(bits);
}

TEST(SampleId, MayNotLeaveItsFolder) {
  for (const char* id : {"a", "sample-1", "2wiki_dev.17", "A.b-c_d"}) EXPECT_NO_THROW(check_sample_id(id));
  for (const std::string id :
       {"", ".", "..", "../x", "a/b", "/etc/passwd", "a\\b", ".hidden", "a b", "\xC3\xA9", "\xFF", "a\nb"}) {
    EXPECT_TRUE(fails_with<UsageError>([&] { check_sample_id(id); }, {"sample id", "expected", "found"}))
        << id;
    EXPECT_THROW(sample_file(id), UsageError);
  }
  EXPECT_THROW(check_sample_id(std::string("a\0b", 3)), UsageError);
  EXPECT_NO_THROW(check_sample_id(std::string(128, 'a')));
  EXPECT_THROW(check_sample_id(std::string(129, 'a')), UsageError);
}

TEST(SampleFile, EqualSamplesGiveEqualBytes) {
  for (const Storage storage : {Storage::kF32, Storage::kF16}) {
    EXPECT_EQ(format_sample(small_sample(3), storage), format_sample(small_sample(3), storage));
  }
}

TEST(SampleFile, EveryArrayIsAligned) {
  for (const Storage storage : {Storage::kF32, Storage::kF16}) {
    const std::string bytes = format_sample(small_sample(0), storage);  // five tokens: odd numbers of bytes
    for (const auto& [name, entry] : parse(bytes).tensors) {
      const auto offset = reinterpret_cast<const char*>(entry.data.data()) - bytes.data();
      EXPECT_EQ(static_cast<size_t>(offset) % safetensors_element_size(entry.dtype), 0u) << name;
    }
  }
}

TEST(SampleFile, HalvesKeepTheirBound) {
  std::vector<float> values;
  for (float value = 0x1p-30f; value < 60000; value *= 1.0007f) values.insert(values.end(), {value, -value});
  values.insert(values.end(), {0.0f, -0.0f, kLargestF16});
  Sample sample{"a", {float_array("x_values", {static_cast<std::int64_t>(values.size())}, values)}, {}};
  const std::string bytes = format_sample(sample, Storage::kF16);
  const auto file = parse(bytes);
  const auto& entry = file.tensors.at("x_values");
  ASSERT_EQ(entry.dtype, "F16");
  for (size_t i = 0; i < values.size(); ++i) {
    const float size = std::fabs(values[i]);
    ASSERT_LE(std::fabs(half_at(entry, i) - values[i]), size < 0x1p-14f ? 0x1p-25f : size * 0x1p-11f)
        << values[i];
  }
}

TEST(SampleFile, HalvesNeverTurnAFiniteNumberIntoInfinity) {
  const float infinity = std::numeric_limits<float>::infinity();
  Sample sample{"a",
                {float_array("x_large", {2}, std::vector<float>{1, 65505}),
                 float_array("x_open", {3}, std::vector<float>{-infinity, 2, std::nanf("")})},
                {}};
  const std::string bytes = format_sample(sample, Storage::kF16);
  const auto file = parse(bytes);
  EXPECT_EQ(file.tensors.at("x_large").dtype, "F32");
  const auto& open = file.tensors.at("x_open");
  ASSERT_EQ(open.dtype, "F16");
  EXPECT_EQ(half_at(open, 0), -infinity);
  EXPECT_EQ(half_at(open, 1), 2);
  EXPECT_TRUE(std::isnan(half_at(open, 2)));
}

TEST(SampleFile, HalfStorageLeavesIntegersAlone) {
  const std::string bytes = format_sample(small_sample(0), Storage::kF16);
  const auto file = parse(bytes);
  EXPECT_EQ(file.tensors.at("tokens").dtype, "I32");
  EXPECT_EQ(file.tensors.at("region_of_token").dtype, "U8");
  EXPECT_EQ(file.tensors.at("received").dtype, "F16");
}

TEST(SampleFile, TextsSurviveBrokenCharacters) {
  const std::vector<std::string> texts = {"ok \"quoted\"\n", "\xF0\x9F", ""};
  EXPECT_EQ(format_text_list(texts), "[\"ok \\\"quoted\\\"\\n\",\"\xEF\xBF\xBD\",\"\"]");
}

TEST(CheckSample, RefusesWhatTheSchemaDoesNotSay) {
  const std::vector<float> six(6);
  const std::vector<std::int32_t> ids(3);
  const auto refused = [](std::vector<Array> arrays, std::initializer_list<std::string> parts) {
    const Sample sample{"a", std::move(arrays), {}};
    return fails_with<UsageError>([&] { check_sample(sample); }, parts);
  };
  EXPECT_TRUE(refused({float_array("recieved", {6}, six)}, {"sample a", "recieved", "schema", "unknown"}));
  EXPECT_TRUE(refused({float_array(kTokens, {6}, six)}, {"tokens", "expected I32, found F32"}));
  EXPECT_TRUE(refused({integer_array(kTokens, {3, 1}, ids)}, {"tokens", "[T]", "[3, 1]"}));
  EXPECT_TRUE(refused({integer_array(kTokens, {3}, ids), float_array(kEntropy, {1, 1, 1, 6}, six)},
                      {"entropy", "T = 3 as in tokens", "[1, 1, 1, 6]"}));
  EXPECT_TRUE(refused({integer_array(kTokens, {3}, ids), integer_array(kTokens, {3}, ids)}, {"twice"}));
  Array torn = float_array(kEntropy, {1, 1, 1, 6}, six);
  torn.bytes.pop_back();
  EXPECT_TRUE(refused({torn}, {"entropy", "[1, 1, 1, 6]", "23 bytes"}));
  EXPECT_TRUE(fails_with<UsageError>([&] { float_array("x", {2, 2}, six); }, {"x", "[2, 2]", "6 values"}));
  EXPECT_TRUE(fails_with<UsageError>([&] { float_array("x", {-2, -3}, six); }, {"x", "at least 0"}));
  EXPECT_TRUE(fails_with<UsageError>([&] { float_array("x", {INT64_MAX, 3}, six); }, {"x", "2^63"}));
  const Sample named{"a", {}, {{"id", "b"}}};
  EXPECT_TRUE(fails_with<UsageError>([&] { check_sample(named); }, {"metadata", "id left to the writer"}));
}

TEST(CheckSample, TakesEveryArrayOfTheSchemaAndPrivateOnes) {
  const std::map<char, std::int64_t> sizes = {{'S', 2}, {'L', 3}, {'G', 1}, {'H', 4}, {'V', 2}, {'C', 3},
                                              {'T', 5}, {'R', 0}, {'K', 2}, {'D', 4}, {'M', 8}, {'2', 2},
                                              {'3', 3}, {'N', 6}, {'A', 2}, {'P', 3}, {'X', 2}, {'E', 4}};
  Sample sample{"a", {float_array("x_mine", {1, 2}, std::vector<float>(2))}, {}};
  for (const ArraySchema& schema : array_schema()) {
    std::vector<std::int64_t> shape;
    for (const char letter : schema.shape) {
      if (letter != ' ') shape.push_back(sizes.at(letter));
    }
    std::string name(schema.name);
    for (const char* mark : {"{s}", "{l}"}) {
      if (const size_t at = name.find(mark); at != std::string::npos) name.replace(at, 3, "12");
    }
    if (const size_t at = name.find("{name}"); at != std::string::npos) name.replace(at, 6, "mine");
    const DataType dtype = schema.element == Element::kFloat     ? DataType::kF32
                           : schema.element == Element::kInteger ? DataType::kI32
                                                                 : DataType::kU8;
    const auto count = static_cast<size_t>(element_count(name, shape));
    if (name == kSteps || name == kLayers) {
      std::vector<std::int32_t> numbers(count);
      std::iota(numbers.begin(), numbers.end(), 13 - static_cast<std::int32_t>(count));  // 12 is the last
      sample.arrays.push_back(integer_array(name, shape, numbers));
      continue;
    }
    sample.arrays.push_back({name, dtype, shape, std::vector<std::byte>(count * size_of(dtype))});
  }
  sample.metadata["region_names"] = R"(["a", "b", "c"])";
  EXPECT_NO_THROW(check_sample(sample));
}

// What the schema's table does not say: the rules of sample_rules.h, which the reader asks too.
TEST(CheckSample, RefusesNumbersThatWouldBeIndices) {
  const auto refused = [](const std::function<void(Sample&)>& change,
                          std::initializer_list<std::string> parts) {
    Sample sample = small_sample(0);
    change(sample);
    const auto model = testing::small_manifest(1).model;
    return fails_with<UsageError>([&] { check_sample(sample, &model); }, parts);
  };
  const auto array = [](Sample& sample, std::string_view name) -> Array& {
    return *std::find_if(sample.arrays.begin(), sample.arrays.end(),
                         [&](const Array& a) { return a.name == name; });
  };
  const auto set = [&](std::string_view name, std::vector<std::int32_t> values) {
    return [=](Sample& sample) {
      Array& old = array(sample, name);
      old = integer_array(name, old.shape, values);
    };
  };
  EXPECT_NO_THROW(check_sample(small_sample(0)));
  EXPECT_TRUE(refused(set(kSteps, {2, 0}), {"sample sample-0: steps", "ascending", "0 behind 2 at 1"}));
  EXPECT_TRUE(refused(set(kSteps, {-1, 0}), {"steps", "from 0 to 999999", "-1 at 0"}));
  EXPECT_TRUE(refused(set(kLayers, {0, 2}), {"layers", "from 0 to 1", "2 at 1"}));
  EXPECT_TRUE(refused(set(kTokens, {0, 1, 2, 3, 32}), {"tokens", "from 0 to 31", "32 at 4"}));
  EXPECT_TRUE(refused(set(kGroupSizes, {3, 3, 1, 1}), {"group_sizes", "at most 5 queries", "6 at 1"}));
  EXPECT_TRUE(refused([](Sample& s) { s.metadata["prompt_length"] = "6"; },
                      {"prompt_length", "an integer from 0 to 5", "6"}));
  EXPECT_TRUE(refused([](Sample& s) { s.metadata["region_names"] = "[\"bos\"]"; },
                      {"region_of_token", "numbers below 1", "1 at 1"}));
  EXPECT_TRUE(
      refused([](Sample& s) { s.metadata["gold_regions"] = "[\"x\"]"; }, {"gold_regions", "region_names"}));
  EXPECT_TRUE(refused(
      [&](Sample& s) { std::erase_if(s.arrays, [](const Array& a) { return a.name == kGroupSizes; }); },
      {"group_sizes", "received", "none"}));
  // Of compact traces.
  const auto add = [](Array more) { return [=](Sample& s) { s.arrays.push_back(more); }; };
  EXPECT_TRUE(refused(add(integer_array(kMeanTopKeys, {2, 2, 1}, std::vector{0, -1, 5, 0})),
                      {"mean_top_keys", "from -1 to 4", "5 at 2"}));
  EXPECT_TRUE(refused(add(float_array(kMeanScales, {2, 2, 3}, std::vector<float>(12, 0.5F))),
                      {"mean_scales", "two numbers", "3"}));
  EXPECT_TRUE(refused(add(byte_array(kMeanCodes, {2, 2, 6}, std::vector<std::uint8_t>(24, 1))),
                      {"mean_codes", "T = 5", "[2, 2, 6]"}));
  EXPECT_TRUE(refused(add(float_array(kMeanCodes, {2, 2, 5}, std::vector<float>(20, 1))),
                      {"mean_codes", "U8", "F32"}));
}

TEST(CheckSample, BlocksNeedTheirGridAndForwardsTheirKind) {
  const auto checked = [](const std::function<void(Sample&)>& change) {
    Sample sample = small_sample(0);
    sample.metadata[std::string(kAttention)] = kBlocksAttention;
    sample.metadata[std::string(kBlockLength)] = "4";
    sample.metadata[std::string(kGridOrigin)] = "0";
    sample.arrays.push_back(byte_array(kStepKinds, {2}, std::vector<std::uint8_t>{0, 2}));
    sample.arrays.push_back(integer_array(kRowsRun, {2, 2}, std::vector{0, 4, 4, 5}));
    sample.arrays.push_back(integer_array(kReveals, {2, 3}, std::vector{0, 4, 7, 2, 4, 9}));
    change(sample);
    const auto model = testing::small_manifest(1).model;
    check_sample(sample, &model);
  };
  const auto refused = [&](const std::function<void(Sample&)>& change,
                           std::initializer_list<std::string> parts) {
    return fails_with<UsageError>([&] { checked(change); }, parts);
  };
  const auto without = [](std::string_view name) {
    return [=](Sample& s) { std::erase_if(s.arrays, [&](const Array& a) { return a.name == name; }); };
  };
  const auto instead = [&](const Array& other) {
    return [=](Sample& s) {
      without(other.name)(s);
      s.arrays.push_back(other);
    };
  };
  EXPECT_NO_THROW(checked([](Sample&) {})) << "position 4 is revealed twice";
  EXPECT_TRUE(refused([](Sample& s) { s.metadata.erase(std::string(kGridOrigin)); },
                      {"grid_origin", "beside attention blocks", "none"}));
  EXPECT_TRUE(refused([](Sample& s) { s.metadata[std::string(kBlockLength)] = "0"; },
                      {"block_length", "from 1 to", "0"}));
  EXPECT_TRUE(refused([](Sample& s) { s.metadata[std::string(kAttention)] = kCausalAttention; },
                      {"block_length", "none without attention blocks", "4"}));
  EXPECT_TRUE(refused(without(kStepKinds), {"step_kinds", "beside attention blocks", "none"}));
  EXPECT_TRUE(refused(without(kRowsRun), {"rows_run", "beside attention blocks", "none"}));
  EXPECT_TRUE(refused(instead(byte_array(kStepKinds, {2}, std::vector<std::uint8_t>{0, 4})),
                      {"step_kinds", "from 0 to 3", "4 at 1"}));
  EXPECT_TRUE(refused(instead(integer_array(kRowsRun, {2, 2}, std::vector{0, 4, 4, 6})),
                      {"rows_run", "from 0 to 5", "6 at 3"}));
  EXPECT_TRUE(refused(instead(integer_array(kReveals, {1, 3}, std::vector{0, 5, 7})),
                      {"reveals", "generated positions", "5 at 1"}));
  EXPECT_TRUE(refused(instead(integer_array(kReveals, {1, 3}, std::vector{0, 4, 32})),
                      {"reveals", "tokens that there are", "32 at 2"}));
  EXPECT_TRUE(refused(instead(integer_array(kReveals, {3, 2}, std::vector{0, 4, 7, 2, 4, 9})),
                      {"reveals", "three numbers", "2"}));
  EXPECT_TRUE(refused(instead(integer_array(kRowsRun, {2, 2}, std::vector{0, 4, 4, 4})),
                      {"rows_run", "above the first row, 4", "4 at 3"}));
  const auto set = [](std::string_view key, const char* value) {
    return [=](Sample& s) { s.metadata[std::string(key)] = value; };
  };
  EXPECT_TRUE(refused(set(kDenoisedLength, "4"), {"denoised_length", "denoised_origin together"}));
  EXPECT_TRUE(refused(set(kDenoisedOrigin, "4"), {"denoised_origin", "denoised_length and"}));
  const auto both = [&](const char* length) {
    return [=](Sample& s) { set(kDenoisedOrigin, "3")(s), set(kDenoisedLength, length)(s); };
  };
  EXPECT_NO_THROW(checked(both("2")));
  EXPECT_TRUE(refused(both("0"), {"denoised_length", "from 1 to", "0"}));
  EXPECT_NO_THROW(checked(set(kEndTokens, R"(["31", "7"])")));
  for (const char* bad : {R"(["32"])", R"(["-1"])", R"(["7a"])"})
    EXPECT_TRUE(refused(set(kEndTokens, bad), {"end_tokens", "token ids below 32"})) << bad;
}

}  // namespace
}  // namespace buoy::trace
