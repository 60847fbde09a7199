#include "buoy/base/container/npz.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>

#include "buoy/base/error.h"
#include "buoy/base/little_endian.h"
#include "buoy/base/utf8.h"

namespace buoy {
namespace {

static_assert(std::endian::native == std::endian::little, "npy headers below say little-endian");

std::string npy_header(std::string_view type, const std::vector<std::int64_t>& shape) {
  std::string dimensions = fmt::format("{}", fmt::join(shape, ", "));
  if (shape.size() == 1) dimensions += ",";
  std::string text =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", type, dimensions);
  constexpr size_t kPrefix = 10, kAlignment = 64;
  text.resize((kPrefix + text.size() + 1 + kAlignment - 1) / kAlignment * kAlignment - kPrefix - 1, ' ');
  text += '\n';
  return std::string("\x93NUMPY\x01\x00", 8) + LittleEndian().u16(text.size()).bytes() + text;
}

void check_count(const std::vector<std::int64_t>& shape, size_t values) {
  std::int64_t count = 1;
  for (const auto extent : shape) count *= extent;
  BUOY_CHECK(count == static_cast<std::int64_t>(values));
}

}  // namespace

void NpzWriter::add_bytes(const std::string& name, std::string_view header,
                          std::span<const std::byte> bytes) {
  zip_.begin(name + ".npy");
  zip_.write(header);
  zip_.write(bytes);
  zip_.end();
}

void NpzWriter::add(const std::string& name, std::span<const float> values,
                    const std::vector<std::int64_t>& shape) {
  check_count(shape, values.size());
  add_bytes(name, npy_header("<f4", shape), std::as_bytes(values));
}

void NpzWriter::add(const std::string& name, std::span<const std::int64_t> values,
                    const std::vector<std::int64_t>& shape) {
  check_count(shape, values.size());
  add_bytes(name, npy_header("<i8", shape), std::as_bytes(values));
}

void NpzWriter::add_integer(const std::string& name, std::int64_t value) {
  add(name, std::span(&value, 1), {});
}

void NpzWriter::add_text(const std::string& name, std::string_view utf8) {
  // numpy drops U+0000 at the end of a text, as everybody who writes one finds out.
  const std::u32string characters = decode_utf8(replace_invalid_utf8(utf8));
  // numpy has no text of no characters: '<U1' of a zero is "".
  const std::u32string stored = characters.empty() ? std::u32string(1, U'\0') : characters;
  add_bytes(name, npy_header(fmt::format("<U{}", stored.size()), {}),
            std::as_bytes(std::span(stored.data(), stored.size())));
}

void NpzWriter::add_objects(const std::string& name, std::int64_t count,
                            const std::function<void(PickleWriter&)>& write) {
  zip_.begin(name + ".npy");
  zip_.write(npy_header("|O", {count}));
  PickleWriter pickle([&](std::string_view bytes) { zip_.write(bytes); });
  pickle.begin_objects(count);
  write(pickle);
  pickle.end_objects();
  pickle.finish();
  zip_.end();
}

}  // namespace buoy
