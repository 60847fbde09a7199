#include "buoy/base/container/npy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>
#include <charconv>
#include <cstring>
#include <string_view>

#include "buoy/base/error.h"
#include "buoy/base/file/mapped_file.h"

namespace buoy {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers below are taken as they lie");

constexpr std::string_view kMagic = "\x93NUMPY";

// What stands behind a key of the header, up to one of `ends`; nothing: "".
std::string_view value_of(std::string_view header, std::string_view key, std::string_view ends) {
  const auto at = header.find(key);
  if (at == std::string_view::npos) return {};
  std::string_view rest = header.substr(at + key.size());
  const auto first = rest.find_first_not_of(" :");
  if (first == std::string_view::npos) return {};
  rest.remove_prefix(first);
  const auto end = rest.find_first_of(ends);
  return end == std::string_view::npos ? std::string_view() : rest.substr(0, end);
}

std::vector<std::int64_t> shape_of(std::string_view header, const std::string& where) {
  std::string_view list = value_of(header, "'shape'", ")");
  if (!list.starts_with('(')) throw_input_error({where, "a shape in the header", "none"});
  list.remove_prefix(1);
  std::vector<std::int64_t> shape;
  while (true) {
    const auto first = list.find_first_not_of(", ");
    if (first == std::string_view::npos) return shape;
    list.remove_prefix(first);
    std::int64_t extent = -1;
    const auto [end, failure] = std::from_chars(list.data(), list.data() + list.size(), extent);
    if (failure != std::errc() || extent < 0)
      throw_input_error({where, "a shape of whole numbers", fmt::format("({})", list)});
    shape.push_back(extent);
    list.remove_prefix(static_cast<std::size_t>(end - list.data()));
  }
}

// Of a header that may lie: the product of extents that no memory holds is refused before it overflows.
std::uint64_t count_of(const std::vector<std::int64_t>& shape, std::uint64_t most, const std::string& where) {
  std::uint64_t count = 1;
  for (const auto extent : shape) {
    if (extent == 0) return 0;
    if (count > most / static_cast<std::uint64_t>(extent))
      throw_input_error({where, fmt::format("at most {} numbers, as the file is long", most),
                         fmt::format("shape [{}]", fmt::join(shape, ", "))});
    count *= static_cast<std::uint64_t>(extent);
  }
  return count;
}

}  // namespace

NpyArray parse_npy(std::span<const std::byte> bytes, const std::string& where) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!text.starts_with(kMagic) || text.size() < 12)
    throw_input_error({where, "an array as numpy.save writes it (.npy)", "another file"});
  const int version = text[6];
  const std::size_t begin = version == 1 ? 10 : 12;
  std::uint32_t length = 0;
  std::memcpy(&length, text.data() + 8, version == 1 ? 2 : 4);
  if (version < 1 || version > 3 || length > text.size() - begin)
    throw_input_error({where, "a whole header", "one that is cut off"});
  const std::string_view header = text.substr(begin, length);
  const std::string_view type = value_of(header, "'descr'", ",");
  const std::size_t each = type == "'<f4'" ? 4 : type == "'<f8'" ? 8 : 0;
  if (each == 0)
    throw_input_error(
        {where, "numbers of the type '<f4' or '<f8'", type.empty() ? "none" : std::string(type)});
  if (value_of(header, "'fortran_order'", ",}") != "False")
    throw_input_error({where, "C order (numpy.ascontiguousarray)", "Fortran order"});
  const std::string_view data = text.substr(begin + length);
  NpyArray out{shape_of(header, where), {}};
  const std::uint64_t count = count_of(out.shape, data.size() / each, where);
  if (data.size() != count * each)
    throw_input_error(
        {where, fmt::format("{} bytes of numbers", count * each), fmt::format("{}", data.size())});
  out.values.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (each == 4) {
      std::memcpy(&out.values[i], data.data() + 4 * i, 4);
    } else {
      double value = 0;
      std::memcpy(&value, data.data() + 8 * i, 8);
      out.values[i] = static_cast<float>(value);
    }
  }
  return out;
}

NpyArray read_npy(const std::filesystem::path& path) {
  const MappedFile file(path);
  return parse_npy(file.bytes(), path.string());
}

}  // namespace buoy
