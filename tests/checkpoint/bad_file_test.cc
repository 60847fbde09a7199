// A safetensors file that lies about itself. Every message names the file, the field, what was expected
// and what was found.

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>

#include "buoy/base/error.h"
#include "buoy/checkpoint/checkpoint.h"
#include "support/fails_with.h"
#include "support/temp_folder.h"
#include "support/tiny_checkpoint.h"

namespace buoy {
namespace {

using testing::fails_with;
using testing::raw_safetensors;
using testing::RawSafetensors;
using testing::TempFolder;
using testing::TinyCheckpoint;

const std::string kNorm = "model.norm.weight";  // 16 floats

class BadFile : public ::testing::Test {
 protected:
  BadFile() { tiny_.write_configs(folder_.path()); }

  // Opening the folder with these bytes as its model.safetensors fails with these parts, file first.
  ::testing::AssertionResult refused(const std::string& bytes,
                                     std::initializer_list<std::string> parts) const {
    const auto path = folder_.write("model.safetensors", bytes);
    const auto named = fails_with<InputError>([&] { Checkpoint::open(folder_.path()); }, {path.string()});
    return named ? fails_with<InputError>([&] { Checkpoint::open(folder_.path()); }, parts) : named;
  }
  ::testing::AssertionResult refused(std::initializer_list<std::string> parts) const {
    return refused(raw_.bytes(), parts);
  }

  Json& norm() { return raw_.header[kNorm]; }
  std::uint64_t norm_begin() { return norm().at("data_offsets").at(0); }

  const TinyCheckpoint tiny_{Family::kLlama};
  const TempFolder folder_;
  RawSafetensors raw_ = tiny_.raw();
};

TEST_F(BadFile, TheUnspoiledOneOpens) {
  folder_.write("model.safetensors", raw_.bytes());
  EXPECT_NO_THROW(Checkpoint::open(folder_.path()));
}

TEST_F(BadFile, Empty) {
  EXPECT_TRUE(
      refused("", {"model.safetensors", "expected a safetensors file of at least 8 bytes", "found 0 bytes"}));
}

TEST_F(BadFile, ShorterThanItsHeaderLength) {
  EXPECT_TRUE(refused("1234567", {"expected a safetensors file of at least 8 bytes", "found 7 bytes"}));
}

TEST_F(BadFile, HeaderLongerThanTheFile) {
  const std::string bytes = raw_safetensors("{}", "");
  const std::string lying = std::string(1, '\x64') + bytes.substr(1);
  EXPECT_TRUE(refused(lying, {"header", "expected at most 2 bytes", "found a declared length of 100"}));
}

TEST_F(BadFile, APointerOfGitLfs) {
  EXPECT_TRUE(
      refused("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n", {"Git LFS pointer"}));
}

TEST_F(BadFile, HeaderLengthOfAllOnes) {
  EXPECT_TRUE(refused(std::string(16, '\xFF'), {"header", "expected at most 8 bytes",
                                                "found a declared length of 18446744073709551615"}));
}

TEST_F(BadFile, HeaderLengthThatCutsTheHeader) {
  std::string bytes = raw_.bytes();
  bytes[0] = static_cast<char>(bytes[0] - 8);
  EXPECT_TRUE(refused(bytes, {"header", "expected valid JSON", "found"}));
}

TEST_F(BadFile, HeaderLengthThatReachesIntoTheData) {
  std::string bytes = raw_.bytes();
  bytes[1] = static_cast<char>(bytes[1] + 1);
  EXPECT_TRUE(refused(bytes, {"header", "expected valid JSON", "found"}));
}

TEST_F(BadFile, TruncatedData) {
  const std::string bytes = raw_.bytes();
  EXPECT_TRUE(
      refused(bytes.substr(0, bytes.size() - 1), {"data_offsets", "the data in the file", "found ["}));
}

TEST_F(BadFile, TruncatedAnywhereIsRefused) {
  const std::string bytes = raw_.bytes();
  for (size_t size = 0; size < bytes.size(); size += 97) {
    EXPECT_TRUE(refused(bytes.substr(0, size), {"expected ", "found "})) << size;
  }
}

TEST_F(BadFile, MoreDataThanTheHeaderSays) {
  raw_.data += "x";
  const auto size = std::to_string(raw_.data.size());
  EXPECT_TRUE(refused(
      {"expected " + std::to_string(raw_.data.size() - 1) + " bytes of tensor data as the header says",
       "found " + size + " bytes"}));
}

TEST_F(BadFile, OverlappingTensors) {
  const std::uint64_t begin = norm_begin();
  norm()["data_offsets"] = {begin - 4, begin + 60};
  EXPECT_TRUE(refused({": ", "expected data to begin at", "found begin", "overlap"}));
}

TEST_F(BadFile, TwoTensorsOnTheSameBytes) {
  raw_.header["alias"] = norm();
  EXPECT_TRUE(refused({": ", "expected data to begin at " + std::to_string(norm_begin() + 64), "overlap"}));
}

TEST_F(BadFile, AGapBetweenTensors) {
  RawSafetensors gap;
  gap.header["late"] = parse_json(R"({"dtype": "U8", "shape": [1], "data_offsets": [1, 2]})", "test");
  gap.data = "xy";
  EXPECT_TRUE(refused(gap.bytes(), {": late", "expected data to begin at 0", "found begin 1 (gap)"}));
}

TEST_F(BadFile, OffsetsOutsideTheFile) {
  const std::uint64_t begin = norm_begin();
  const std::string limit = "expected begin <= end <= " + std::to_string(raw_.data.size());
  norm()["data_offsets"] = {begin, begin + 1'000'000};
  EXPECT_TRUE(refused({kNorm + ": data_offsets", limit, "found [" + std::to_string(begin)}));
  norm()["data_offsets"] = {18446744073709551615u, 18446744073709551615u};
  EXPECT_TRUE(refused({kNorm + ": data_offsets", limit, "found [18446744073709551615, "}));
}

TEST_F(BadFile, OffsetsInTheWrongOrder) {
  norm()["data_offsets"] = {64, 0};
  EXPECT_TRUE(refused({kNorm + ": data_offsets", "expected begin <= end", "found [64, 0]"}));
}

TEST_F(BadFile, OffsetsThatAreNotTwoWholeNumbers) {
  norm()["data_offsets"] = {0};
  EXPECT_TRUE(refused({kNorm + ": data_offsets", "expected a list [begin, end]", "found a list of 1"}));
  norm()["data_offsets"] = Json::array({-1, 63});
  EXPECT_TRUE(refused({kNorm + ": data_offsets", "expected a non-negative integer", "found the number -1"}));
  norm()["data_offsets"] = Json::array({0.5, 63});
  EXPECT_TRUE(refused({kNorm + ": data_offsets", "expected a non-negative integer", "found the number 0.5"}));
  norm().erase("data_offsets");
  EXPECT_TRUE(refused({kNorm + ": data_offsets", "expected a list [begin, end]", "found nothing"}));
}

TEST_F(BadFile, MoreOrFewerBytesThanTheShapeNeeds) {
  norm()["shape"] = {17};
  EXPECT_TRUE(
      refused({kNorm + ": data_offsets", "expected 68 bytes for its shape and type", "found 64 bytes"}));
  norm()["shape"] = {16};
  norm()["dtype"] = "BF16";
  EXPECT_TRUE(refused({kNorm + ": data_offsets", "expected 32 bytes", "found 64 bytes"}));
}

TEST_F(BadFile, ShapesThatAreNotLists) {
  norm()["shape"] = "16";
  EXPECT_TRUE(refused({kNorm + ": shape", "expected a list of sizes", "found text \"16\""}));
  norm()["shape"] = Json::array({-16});
  EXPECT_TRUE(refused({kNorm + ": shape", "expected a non-negative integer", "found the number -16"}));
  norm()["shape"] = Json::array({std::vector<int>{16}});
  EXPECT_TRUE(refused({kNorm + ": shape", "expected a non-negative integer", "found a list of 1"}));
  norm()["shape"] = std::vector<int>(17, 1);
  EXPECT_TRUE(refused({kNorm + ": shape", "expected at most 16 sizes", "found a list of 17"}));
}

TEST_F(BadFile, ShapesTooLargeToCount) {
  norm()["shape"] = {4294967296, 4294967296};  // 2^64 elements, 0 bytes in 64-bit arithmetic
  EXPECT_TRUE(refused({kNorm, "expected a tensor of less than 2^64 bytes", "found a larger shape"}));
  norm()["shape"] = {18446744073709551615u};
  EXPECT_TRUE(refused({kNorm + ": shape", "expected 64-bit sizes", "found"}));
}

TEST_F(BadFile, UnknownTypes) {
  norm()["dtype"] = "F128";
  EXPECT_TRUE(refused({kNorm + ": dtype", "expected a safetensors type such as F32", "found text \"F128\""}));
  norm()["dtype"] = 32;
  EXPECT_TRUE(refused({kNorm + ": dtype", "expected text", "found the number 32"}));
}

TEST_F(BadFile, EntriesAndMetadataThatAreNotObjects) {
  norm() = 5;
  EXPECT_TRUE(refused({kNorm, "expected a JSON object", "found the number 5"}));
  raw_ = tiny_.raw();
  raw_.header["__metadata__"] = "pt";
  EXPECT_TRUE(refused({"__metadata__", "expected a JSON object", "found text \"pt\""}));
  raw_.header["__metadata__"] = parse_json(R"({"format": 1})", "test");
  EXPECT_TRUE(refused({"__metadata__: format", "expected text", "found the number 1"}));
}

TEST_F(BadFile, HeadersThatAreNotObjects) {
  EXPECT_TRUE(refused(raw_safetensors("[]", ""), {"header", "expected a JSON object", "found a list of 0"}));
  EXPECT_TRUE(refused(raw_safetensors("", ""), {"header", "expected valid JSON", "found"}));
  EXPECT_TRUE(refused(raw_safetensors(R"({"a": 1, "a": 2})", ""),
                      {"header", "expected each key once", "\"a\" twice"}));
  EXPECT_TRUE(
      refused(raw_safetensors(std::string(5000, '['), ""), {"header", "nested at most 64", "deeper"}));
}

}  // namespace
}  // namespace buoy
