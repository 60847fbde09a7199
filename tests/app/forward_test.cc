// `buoy forward` writes what numpy.load reads, and the numbers are those of the independent goldens.

#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "app/program.h"
#include "buoy/base/file/files.h"
#include "fmt/ranges.h"
#include "support/golden.h"
#include "support/temp_folder.h"

namespace buoy {
namespace {

struct Array {
  std::string header;
  std::vector<double> values;
};

template <typename T>
T field(const std::string& bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

// A reader of its own for stored zip entries with 64-bit sizes, by walking the local headers.
std::map<std::string, Array> read_npz(const std::filesystem::path& path) {
  const std::string bytes = read_file(path);
  std::map<std::string, Array> arrays;
  size_t at = 0;
  while (field<std::uint32_t>(bytes, at) == 0x04034b50) {
    const auto name_size = field<std::uint16_t>(bytes, at + 26),
               extra_size = field<std::uint16_t>(bytes, at + 28);
    const std::string name = bytes.substr(at + 30, name_size);
    const auto size = field<std::uint64_t>(bytes, at + 30 + name_size + 4);
    const size_t body = at + 30 + name_size + extra_size;
    const size_t header = field<std::uint16_t>(bytes, body + 8);
    Array array{bytes.substr(body + 10, header), {}};
    for (size_t i = body + 10 + header; i < body + size; i += 4)
      array.values.push_back(field<float>(bytes, i));
    arrays[name] = std::move(array);
    at = body + size;
  }
  EXPECT_EQ(field<std::uint32_t>(bytes, at), 0x02014b50u) << "central directory";
  return arrays;
}

TEST(Forward, DumpsMatchTheGoldens) {
  for (const std::string name : {"llada-f32", "qwen3-f32", "dream-bf16"}) {
    const testing::Golden golden(name);
    const testing::TempFolder scratch;
    const auto ids = golden.ids("A.ids");
    const auto result = testing::run_buoy(
        {"forward", "--model", golden.folder().string(), "--ids", fmt::format("{}", fmt::join(ids, ",")),
         "--out", (scratch / "f.npz").string(), "--dump", "logits,attention,queries,keys"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const auto arrays = read_npz(scratch / "f.npz");
    const auto expect = [&](const std::string& array, const std::string& reference) {
      const auto exact = golden.numbers(reference + "_f64");
      const double plain = testing::rms_difference(golden.numbers(reference + "_f32"), exact);
      EXPECT_LE(testing::rms_difference(arrays.at(array + ".npy").values, exact), 2 * plain)
          << name << " " << array;
    };
    expect("logits", "A.logits");
    expect("layer_0_full_attention_heads", "A.layer_0_attention");
    expect("layer_1_query_states", "A.layer_1_query_states");
    expect("layer_1_key_states", "A.layer_1_key_states");
    EXPECT_NE(arrays.at("logits.npy").header.find(fmt::format("({}, ", ids.size())), std::string::npos);
  }
}

TEST(Forward, ABrokenRunLeavesNoFile) {
  const testing::TempFolder scratch;
  const auto folder = (testing::data_folder() / "goldens/llada-f32").string();
  const auto result = testing::run_buoy(
      {"forward", "--model", folder, "--ids", "1,2,99999", "--out", (scratch / "f.npz").string()});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("99999"), std::string::npos) << result.err;
  EXPECT_TRUE(std::filesystem::is_empty(scratch.path()));
}

}  // namespace
}  // namespace buoy
