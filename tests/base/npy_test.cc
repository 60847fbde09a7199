#include "buoy/base/container/npy.h"

#include <gtest/gtest.h>

#include <cstring>

#include "buoy/base/error.h"
#include "support/fails_with.h"

namespace buoy {
namespace {

using testing::fails_with;

std::string npy(std::string header, const std::string& data, char version = 1) {
  header.resize((header.size() + 10) / 64 * 64 + 64 - 11, ' ');
  header += '\n';
  std::string out = std::string("\x93NUMPY", 6) + version + '\0';
  out += static_cast<char>(header.size() % 256);
  out += static_cast<char>(header.size() / 256);
  if (version > 1) out += std::string(2, '\0');
  return out + header + data;
}

template <typename T>
std::string bytes_of(std::initializer_list<T> values) {
  std::string out;
  for (const T value : values) {
    char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    out.append(bytes, sizeof(T));
  }
  return out;
}

NpyArray parse(const std::string& file) {
  return parse_npy(std::as_bytes(std::span(file)), "v.npy");
}

TEST(Npy, HoldsFloatsOfBothSizes) {
  const auto one =
      parse(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", bytes_of<float>({1, -2, 0.5f})));
  EXPECT_EQ(one.shape, std::vector<std::int64_t>{3});
  EXPECT_EQ(one.values, (std::vector<float>{1, -2, 0.5f}));
  const auto two = parse(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }",
                             bytes_of<double>({1, 2, 3, 0.25}), 2));
  EXPECT_EQ(two.shape, (std::vector<std::int64_t>{2, 2}));
  EXPECT_EQ(two.values, (std::vector<float>{1, 2, 3, 0.25f}));
}

TEST(Npy, IsRefusedWhenItIsNoneOrLies) {
  const std::string data = bytes_of<float>({1, 2});
  const auto refused = [](const std::string& file, std::initializer_list<std::string> said) {
    return fails_with<InputError>([&] { parse(file); }, said);
  };
  EXPECT_TRUE(refused("", {"v.npy", "numpy.save", "another file"}));
  EXPECT_TRUE(refused("PK\x03\x04 and more bytes", {"numpy.save"}));
  const std::string good = npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", data);
  EXPECT_TRUE(refused(good.substr(0, 30), {"cut off"}));
  EXPECT_TRUE(refused(good.substr(0, good.size() - 1), {"v.npy"}));
  EXPECT_TRUE(refused(good + "x", {"8 bytes", "9"}));
  EXPECT_TRUE(
      refused(npy("{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }", data), {"'<f4'", "'<i4'"}));
  EXPECT_TRUE(refused(npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2,), }", data), {"C order"}));
  EXPECT_TRUE(refused(npy("{'descr': '<f4', 'fortran_order': False, }", data), {"shape"}));
  EXPECT_TRUE(
      refused(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }", data), {"whole numbers"}));
  EXPECT_TRUE(
      refused(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (x,), }", data), {"whole numbers"}));
  EXPECT_TRUE(refused(
      npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4611686018427387904), }",
          data),
      {"at most 2 numbers"}));
  EXPECT_TRUE(refused(npy("", data), {"'<f4'", "none"}));
}

}  // namespace
}  // namespace buoy
