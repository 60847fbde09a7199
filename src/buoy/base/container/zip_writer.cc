#include "buoy/base/container/zip_writer.h"

#include <zlib.h>

#include <algorithm>

#include "buoy/base/error.h"
#include "buoy/base/little_endian.h"

namespace buoy {
namespace {

constexpr std::uint64_t kIn64BitField = 0xFFFFFFFF;
constexpr std::uint64_t kVersionWith64Bit = 45;
constexpr std::uint64_t kFirstOfJanuary1980 = 0x21;
constexpr std::uint64_t kChecksumAt = 14;  // in a local header

std::uint32_t add_to_checksum(std::uint32_t start, std::span<const std::byte> bytes) {
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

// What a local header and a record of the directory share: from the version to the length of the extra field.
LittleEndian& common_fields(LittleEndian& fields, std::uint32_t checksum, size_t name, size_t extra) {
  return fields.u16(kVersionWith64Bit)
      .u16(0)
      .u16(0)
      .u16(0)
      .u16(kFirstOfJanuary1980)
      .u32(checksum)
      .u32(kIn64BitField)
      .u32(kIn64BitField)
      .u16(name)
      .u16(extra);
}

std::string sizes_field(std::uint64_t size) {
  return LittleEndian().u16(1).u16(16).u64(size).u64(size).bytes();
}

}  // namespace

void ZipWriter::begin(const std::string& name) {
  BUOY_CHECK(!open_);
  open_ = true;
  entries_.push_back({name, 0, 0, file_.size()});
  const std::string extra = sizes_field(0);
  LittleEndian header;
  header.u32(0x04034b50);
  file_.write(common_fields(header, 0, name.size(), extra.size()).text(name).text(extra).bytes());
}

void ZipWriter::write(std::span<const std::byte> bytes) {
  BUOY_CHECK(open_);
  Entry& entry = entries_.back();
  entry.checksum = add_to_checksum(entry.checksum, bytes);
  entry.size += bytes.size();
  file_.write(bytes);
}

void ZipWriter::end() {
  BUOY_CHECK(open_);
  open_ = false;
  const Entry& entry = entries_.back();
  const std::uint64_t extra_at = entry.offset + 30 + entry.name.size();
  file_.overwrite(entry.offset + kChecksumAt, LittleEndian().u32(entry.checksum).bytes());
  file_.overwrite(extra_at, sizes_field(entry.size));
}

void ZipWriter::finish() {
  BUOY_CHECK(!open_);
  const std::uint64_t directory = file_.size();
  for (const auto& entry : entries_) {
    const std::string extra =
        LittleEndian().u16(1).u16(24).u64(entry.size).u64(entry.size).u64(entry.offset).bytes();
    LittleEndian record;
    record.u32(0x02014b50).u16(kVersionWith64Bit);
    common_fields(record, entry.checksum, entry.name.size(), extra.size());
    file_.write(record.u16(0).u16(0).u16(0).u32(0).u32(kIn64BitField).text(entry.name).text(extra).bytes());
  }
  const std::uint64_t end = file_.size();
  LittleEndian closing;
  closing.u32(0x06064b50).u64(44).u16(kVersionWith64Bit).u16(kVersionWith64Bit).u32(0).u32(0);
  closing.u64(entries_.size()).u64(entries_.size()).u64(end - directory).u64(directory);
  closing.u32(0x07064b50).u32(0).u64(end).u32(1);
  closing.u32(0x06054b50).u16(0).u16(0).u16(0xFFFF).u16(0xFFFF).u32(kIn64BitField).u32(kIn64BitField).u16(0);
  file_.write(closing.bytes());
  file_.commit();
}

}  // namespace buoy
