#include "buoy/base/container/zip_listing.h"

#include <fmt/format.h>

#include <cstdint>

#include "buoy/base/error.h"

namespace buoy {
namespace {

constexpr std::uint32_t kEnd = 0x06054b50, kLocator64 = 0x07064b50, kEnd64 = 0x06064b50, kRecord = 0x02014b50;
constexpr std::size_t kEndSize = 22, kLocatorSize = 20, kRecordSize = 46;

class Reader {
 public:
  Reader(std::span<const std::byte> bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  // `size` bytes from `at` on as a little-endian number.
  std::uint64_t number(std::uint64_t at, std::size_t size) const {
    if (at > bytes_.size() || bytes_.size() - at < size) refuse("a part beyond the end of the file");
    std::uint64_t value = 0;
    for (std::size_t i = size; i-- > 0;)
      value = value << 8 | std::to_integer<std::uint64_t>(bytes_[static_cast<std::size_t>(at) + i]);
    return value;
  }

  std::string text(std::uint64_t at, std::uint64_t size) const {
    if (at > bytes_.size() || bytes_.size() - at < size) refuse("a name beyond the end of the file");
    return {reinterpret_cast<const char*>(bytes_.data()) + at, static_cast<std::size_t>(size)};
  }

  [[noreturn]] void refuse(const std::string& found) const {
    throw_input_error({name_, "a whole zip file", found});
  }

  // The closing record; a comment of up to 64 KiB may follow it.
  std::uint64_t end() const {
    const std::size_t size = bytes_.size();
    for (std::size_t back = kEndSize; back <= size && back <= kEndSize + 0xFFFF; ++back) {
      if (number(size - back, 4) == kEnd) return size - back;
    }
    refuse("no directory at its end");
  }

 private:
  std::span<const std::byte> bytes_;
  const std::string& name_;
};

}  // namespace

std::vector<std::string> zip_names(std::span<const std::byte> bytes, const std::string& name) {
  const Reader file(bytes, name);
  const std::uint64_t end = file.end();
  std::uint64_t count = file.number(end + 10, 2), at = file.number(end + 16, 4);
  if (end >= kLocatorSize && file.number(end - kLocatorSize, 4) == kLocator64) {
    const std::uint64_t end64 = file.number(end - kLocatorSize + 8, 8);
    if (file.number(end64, 4) != kEnd64) file.refuse("no 64-bit directory");
    count = file.number(end64 + 32, 8);
    at = file.number(end64 + 48, 8);
  }
  std::vector<std::string> names;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (file.number(at, 4) != kRecord)
      file.refuse(fmt::format("{} of {} entries in its directory", i, count));
    const std::uint64_t name_size = file.number(at + 28, 2), extra = file.number(at + 30, 2),
                        comment = file.number(at + 32, 2);
    names.push_back(file.text(at + kRecordSize, name_size));
    at += kRecordSize + name_size + extra + comment;
  }
  return names;
}

}  // namespace buoy
