// The safetensors container, written and read. What a reader must refuse is in tests/checkpoint.

#include "buoy/base/container/safetensors.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>

#include "buoy/base/error.h"
#include "buoy/base/file/json_file.h"
#include "support/fails_with.h"

namespace buoy {
namespace {

using testing::fails_with;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

constexpr std::string_view kTwelve = "abcdefghijkl";

std::vector<SafetensorsTensor> three_tensors() {
  return {{"z.first", "I32", {3}, bytes_of(kTwelve)},
          {"a.second", "BF16", {1, 2, 1}, bytes_of(kTwelve.substr(0, 4))},
          {"scalar \"é\"", "U8", {}, bytes_of(kTwelve.substr(4, 1))}};
}

size_t header_size(const std::string& file) {
  return static_cast<unsigned char>(file[0]) + 256 * static_cast<size_t>(static_cast<unsigned char>(file[1]));
}

TEST(Safetensors, ReadsBackWhatItWrote) {
  const std::string file =
      format_safetensors(three_tensors(), {{"format", "pt"}, {"note", "ü \"quoted\"\n"}});
  const auto read = parse_safetensors(bytes_of(file), "f");
  EXPECT_EQ(read.metadata,
            (std::map<std::string, std::string>{{"format", "pt"}, {"note", "ü \"quoted\"\n"}}));
  ASSERT_EQ(read.tensors.size(), 3u);
  for (const auto& tensor : three_tensors()) {
    const auto& entry = read.tensors.at(tensor.name);
    EXPECT_EQ(entry.dtype, tensor.dtype);
    EXPECT_EQ(entry.shape, tensor.shape);
    EXPECT_EQ(text_of(entry.data), text_of(tensor.data));
  }
}

TEST(Safetensors, WritesAFileWithoutTensorsOrMetadata) {
  const std::string file = format_safetensors({}, {});
  const auto read = parse_safetensors(bytes_of(file), "f");
  EXPECT_TRUE(read.tensors.empty());
  EXPECT_TRUE(read.metadata.empty());
}

TEST(Safetensors, KeepsTensorsWithoutElements) {
  const std::vector<SafetensorsTensor> tensors = {{"none", "F32", {0, 7}, {}},
                                                  {"one", "U8", {1}, bytes_of("x")}};
  const std::string file = format_safetensors(tensors, {});
  const auto read = parse_safetensors(bytes_of(file), "f");
  EXPECT_EQ(read.tensors.at("none").shape, (std::vector<std::int64_t>{0, 7}));
  EXPECT_TRUE(read.tensors.at("none").data.empty());
}

TEST(Safetensors, WritesTheDocumentedLayout) {
  const std::string file = format_safetensors(three_tensors(), {{"k", "v"}});
  ASSERT_EQ(header_size(file) % 8, 0u);
  const std::string header = file.substr(8, header_size(file));
  EXPECT_EQ(parse_json(header, "written"), parse_json(R"({"__metadata__": {"k": "v"},
      "z.first": {"dtype": "I32", "shape": [3], "data_offsets": [0, 12]},
      "a.second": {"dtype": "BF16", "shape": [1, 2, 1], "data_offsets": [12, 16]},
      "scalar \"é\"": {"dtype": "U8", "shape": [], "data_offsets": [16, 17]}})",
                                                      "expected"));
  EXPECT_LT(header.find("z.first"), header.find("a.second"));  // in the given order
  EXPECT_EQ(file.substr(8 + header_size(file)), "abcdefghijklabcde");
}

TEST(Safetensors, EqualInputGivesEqualBytes) {
  EXPECT_EQ(format_safetensors(three_tensors(), {{"b", "1"}, {"a", "2"}}),
            format_safetensors(three_tensors(), {{"a", "2"}, {"b", "1"}}));
}

TEST(Safetensors, OrderOfTensorsIsPartOfTheInput) {
  auto reversed = three_tensors();
  std::reverse(reversed.begin(), reversed.end());
  EXPECT_NE(format_safetensors(reversed, {}), format_safetensors(three_tensors(), {}));
}

TEST(Safetensors, ReadsAFileOfAnotherWriter) {
  // Data in another order than the header, a header of odd length, spaces.
  const std::string header =
      R"({ "b" : {"shape":[2],"dtype":"U8","data_offsets":[1,3]}, "a":{"dtype":"I8","shape":[1],"data_offsets":[0,1]}} )";
  const std::string file =
      std::string(1, static_cast<char>(header.size())) + std::string(7, '\0') + header + "xyz";
  const auto read = parse_safetensors(bytes_of(file), "f");
  EXPECT_EQ(text_of(read.tensors.at("a").data), "x");
  EXPECT_EQ(text_of(read.tensors.at("b").data), "yz");
}

TEST(Safetensors, KnowsTheSizeOfEveryTypeOfTheFormat) {
  const std::map<std::string, size_t> sizes = {
      {"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"F8_E5M2", 1}, {"F8_E4M3", 1}, {"I16", 2}, {"U16", 2}, {"F16", 2},
      {"BF16", 2}, {"I32", 4}, {"U32", 4}, {"F32", 4},     {"I64", 8},     {"U64", 8}, {"F64", 8}};
  for (const auto& [dtype, size] : sizes) EXPECT_EQ(safetensors_element_size(dtype), size) << dtype;
  for (const char* unknown : {"", "f32", "F128", "F3", "F32 "})
    EXPECT_EQ(safetensors_element_size(unknown), 0u);
}

TEST(Safetensors, WritingRefusesDataThatDoesNotFitItsShape) {
  const std::vector<SafetensorsTensor> tensors = {{"a", "F32", {2}, bytes_of(kTwelve)}};
  EXPECT_TRUE(fails_with<InternalError>([&] { format_safetensors(tensors, {}); }, {"broken promise"}));
}

TEST(Safetensors, WritingRefusesATypeTheFormatDoesNotKnow) {
  const std::vector<SafetensorsTensor> tensors = {{"a", "F128", {0}, {}}};
  EXPECT_TRUE(fails_with<InternalError>([&] { format_safetensors(tensors, {}); }, {"broken promise"}));
}

TEST(Safetensors, WritingRefusesANameTwice) {
  const std::vector<SafetensorsTensor> twice = {{"a", "U8", {1}, bytes_of("x")},
                                                {"a", "U8", {1}, bytes_of("y")}};
  EXPECT_TRUE(fails_with<InternalError>([&] { format_safetensors(twice, {}); }, {"broken promise"}));
  const std::vector<SafetensorsTensor> reserved = {{"__metadata__", "U8", {1}, bytes_of("x")}};
  EXPECT_TRUE(fails_with<InternalError>([&] { format_safetensors(reserved, {}); }, {"broken promise"}));
}

TEST(Safetensors, WritingRefusesTextThatIsNotUtf8) {
  EXPECT_TRUE(fails_with<InputError>(
      [&] {
        format_safetensors({}, {{"prompt", "caf\xE9"}});
      },
      {"__metadata__: prompt", "expected UTF-8", "found"}));
  const std::vector<SafetensorsTensor> tensors = {{"\xFF", "U8", {1}, bytes_of("x")}};
  EXPECT_TRUE(fails_with<InputError>([&] { format_safetensors(tensors, {}); }, {"expected UTF-8", "found"}));
}

}  // namespace
}  // namespace buoy
