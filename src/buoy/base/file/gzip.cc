#include "buoy/base/file/gzip.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>

#include "buoy/base/error.h"
#include "buoy/base/file/files.h"

namespace buoy {
namespace {

constexpr int kGzipOnly = 15 + 16;  // zlib: largest window, gzip header and checksum required

class Inflater {
 public:
  Inflater() {
    if (::inflateInit2(&stream_, kGzipOnly) != Z_OK) throw InternalError("zlib does not start");
  }
  ~Inflater() { ::inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  z_stream* operator->() { return &stream_; }
  z_stream* get() { return &stream_; }

 private:
  z_stream stream_{};
};

}  // namespace

std::string read_plain_or_gzip(const std::filesystem::path& path, std::uintmax_t limit) {
  std::string bytes = read_file(path, limit);
  if (!bytes.starts_with("\x1F\x8B")) return bytes;
  const auto fail = [&](const std::string& expected, const std::string& found) {
    throw_input_error({path.string(), expected, found});
  };
  std::string out;
  std::array<char, 1 << 16> part;
  std::size_t used = 0;
  while (used < bytes.size()) {  // a file may have several members
    Inflater inflater;
    int status = Z_OK;
    while (status != Z_STREAM_END) {
      inflater->next_in = reinterpret_cast<Bytef*>(bytes.data() + used);
      inflater->avail_in = static_cast<uInt>(std::min<std::size_t>(bytes.size() - used, 1U << 30));
      inflater->next_out = reinterpret_cast<Bytef*>(part.data());
      inflater->avail_out = static_cast<uInt>(part.size());
      const auto before = inflater->avail_in;
      status = ::inflate(inflater.get(), Z_NO_FLUSH);
      used += before - inflater->avail_in;
      out.append(part.data(), part.size() - inflater->avail_out);
      if (out.size() > limit) fail(fmt::format("at most {} bytes when unpacked", limit), "more");
      if (status == Z_BUF_ERROR || (status == Z_OK && used == bytes.size() && inflater->avail_out > 0))
        fail("gzip data to its end", "a file that ends before");
      if (status != Z_OK && status != Z_STREAM_END)
        fail("gzip data", inflater->msg != nullptr ? inflater->msg : "data that zlib refuses");
    }
  }
  return out;
}

}  // namespace buoy
