#include "base/npz.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <utility>

#include "base/error.h"

namespace buoy {
namespace {

static_assert(std::endian::native == std::endian::little, "npy headers below say little-endian");

// Little-endian fields of the zip format.
class Record {
 public:
  Record& u16(std::uint64_t value) { return put(value, 2); }
  Record& u32(std::uint64_t value) { return put(value, 4); }
  Record& u64(std::uint64_t value) { return put(value, 8); }
  Record& text(const std::string& value) {
    bytes_ += value;
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  Record& put(std::uint64_t value, int size) {
    for (int i = 0; i < size; ++i) bytes_ += static_cast<char>(value >> (8 * i));
    return *this;
  }
  std::string bytes_;
};

constexpr std::uint64_t kIn64BitField = 0xFFFFFFFF;
constexpr std::uint64_t kVersionWith64Bit = 45;
constexpr std::uint64_t kFirstOfJanuary1980 = 0x21;  // no clock in the file: equal content, equal bytes

std::string npy_header(const std::vector<std::int64_t>& shape) {
  std::string dimensions = fmt::format("{}", fmt::join(shape, ", "));
  if (shape.size() == 1) dimensions += ",";
  std::string text = fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}), }}", dimensions);
  constexpr size_t kPrefix = 10, kAlignment = 64;
  text.resize((kPrefix + text.size() + 1 + kAlignment - 1) / kAlignment * kAlignment - kPrefix - 1, ' ');
  text += '\n';
  return std::string("\x93NUMPY\x01\x00", 8) + Record().u16(text.size()).bytes() + text;
}

std::uint32_t checksum_of(std::uint32_t start, std::span<const std::byte> bytes) {
  const auto* at = reinterpret_cast<const Bytef*>(bytes.data());
  auto checksum = static_cast<uLong>(start);
  for (size_t left = bytes.size(); left > 0;) {
    const auto chunk = static_cast<uInt>(std::min<size_t>(left, 1u << 30));
    checksum = ::crc32(checksum, at, chunk);
    at += chunk;
    left -= chunk;
  }
  return static_cast<std::uint32_t>(checksum);
}

}  // namespace

NpzWriter::NpzWriter(std::filesystem::path path)
    : path_(std::move(path)), partial_(fmt::format("{}.partial.{}", path_.string(), ::getpid())) {
  file_ = std::fopen(partial_.c_str(), "wb");
  if (file_ == nullptr) throw_io_error("create", path_.string(), errno);
}

NpzWriter::~NpzWriter() {
  if (file_ == nullptr) return;
  std::fclose(file_);
  ::unlink(partial_.c_str());
}

void NpzWriter::write(const void* bytes, size_t size) {
  if (std::fwrite(bytes, 1, size, file_) != size) throw_io_error("write", path_.string(), errno);
  written_ += size;
}

void NpzWriter::add(const std::string& name, std::span<const float> values,
                    const std::vector<std::int64_t>& shape) {
  std::int64_t count = 1;
  for (const auto extent : shape) count *= extent;
  BUOY_CHECK(count == static_cast<std::int64_t>(values.size()));
  const std::string header = npy_header(shape);
  const std::uint32_t checksum =
      checksum_of(checksum_of(0, std::as_bytes(std::span(header))), std::as_bytes(values));
  const Entry entry{name + ".npy", checksum, header.size() + values.size_bytes(), written_};
  const std::string extra = Record().u16(1).u16(16).u64(entry.size).u64(entry.size).bytes();
  const std::string local = Record()
                                .u32(0x04034b50)
                                .u16(kVersionWith64Bit)
                                .u16(0)
                                .u16(0)
                                .u16(0)
                                .u16(kFirstOfJanuary1980)
                                .u32(entry.checksum)
                                .u32(kIn64BitField)
                                .u32(kIn64BitField)
                                .u16(entry.name.size())
                                .u16(extra.size())
                                .text(entry.name)
                                .text(extra)
                                .bytes();
  write(local.data(), local.size());
  write(header.data(), header.size());
  write(values.data(), values.size_bytes());
  entries_.push_back(entry);
}

void NpzWriter::finish() {
  const std::uint64_t directory = written_;
  for (const auto& entry : entries_) {
    const std::string extra =
        Record().u16(1).u16(24).u64(entry.size).u64(entry.size).u64(entry.offset).bytes();
    const std::string record = Record()
                                   .u32(0x02014b50)
                                   .u16(kVersionWith64Bit)
                                   .u16(kVersionWith64Bit)
                                   .u16(0)
                                   .u16(0)
                                   .u16(0)
                                   .u16(kFirstOfJanuary1980)
                                   .u32(entry.checksum)
                                   .u32(kIn64BitField)
                                   .u32(kIn64BitField)
                                   .u16(entry.name.size())
                                   .u16(extra.size())
                                   .u16(0)
                                   .u16(0)
                                   .u16(0)
                                   .u32(0)
                                   .u32(kIn64BitField)
                                   .text(entry.name)
                                   .text(extra)
                                   .bytes();
    write(record.data(), record.size());
  }
  const std::uint64_t end = written_;
  const std::string closing = Record()
                                  .u32(0x06064b50)
                                  .u64(44)
                                  .u16(kVersionWith64Bit)
                                  .u16(kVersionWith64Bit)
                                  .u32(0)
                                  .u32(0)
                                  .u64(entries_.size())
                                  .u64(entries_.size())
                                  .u64(end - directory)
                                  .u64(directory)
                                  .u32(0x07064b50)
                                  .u32(0)
                                  .u64(end)
                                  .u32(1)
                                  .u32(0x06054b50)
                                  .u16(0)
                                  .u16(0)
                                  .u16(0xFFFF)
                                  .u16(0xFFFF)
                                  .u32(kIn64BitField)
                                  .u32(kIn64BitField)
                                  .u16(0)
                                  .bytes();
  write(closing.data(), closing.size());
  std::FILE* file = std::exchange(file_, nullptr);
  const bool flushed = std::fflush(file) == 0 && ::fsync(::fileno(file)) == 0;
  int failure = flushed ? 0 : errno;
  if (std::fclose(file) != 0 && failure == 0) failure = errno;
  if (failure == 0 && ::rename(partial_.c_str(), path_.c_str()) != 0) failure = errno;
  if (failure != 0) {
    ::unlink(partial_.c_str());
    throw_io_error("finish", path_.string(), failure);
  }
}

}  // namespace buoy
