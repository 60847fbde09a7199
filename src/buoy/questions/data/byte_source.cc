#include "buoy/questions/data/byte_source.h"

#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <vector>

#include "buoy/base/error.h"
#include "buoy/base/file/files.h"

namespace buoy::questions {
namespace {

constexpr const char* kStandardInput = "-";
constexpr std::size_t kBuffer = std::size_t{1} << 16;
constexpr unsigned char kMagic[2] = {0x1F, 0x8B};
constexpr int kGzipOnly = 15 + 16;  // zlib: largest window, gzip header and checksum required

}  // namespace

class ByteSource::Impl {
 public:
  explicit Impl(const std::filesystem::path& path) : name_(path.string()), buffer_(kBuffer) {
    fd_ = path == kStandardInput ? ::dup(STDIN_FILENO) : open_regular_file(path);
    if (fd_ < 0) throw_cannot_open(name_, errno);
    try {
      start();
    } catch (...) {
      ::close(fd_);
      throw;
    }
  }
  ~Impl() {
    if (compressed_) ::inflateEnd(&stream_);
    ::close(fd_);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  bool compressed() const { return compressed_; }

  std::size_t read(std::span<char> into, const std::string& where) {
    return compressed_ ? inflate_into(into, where) : copy_into(into);
  }

 private:
  void start() {
    refill();
    // A pipe may hand over one byte at first.
    while (size_ == 1 && append() > 0) {
    }
    if (size_ < sizeof kMagic || std::memcmp(buffer_.data(), kMagic, sizeof kMagic) != 0) return;
    if (::inflateInit2(&stream_, kGzipOnly) != Z_OK) throw InternalError("zlib does not start");
    compressed_ = true;
    stream_.next_in = buffer_.data();
    stream_.avail_in = static_cast<uInt>(size_);
  }

  std::size_t append() {
    for (;;) {
      const ssize_t got = ::read(fd_, buffer_.data() + size_, buffer_.size() - size_);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) throw_io_error("read", name_, errno);
      size_ += static_cast<std::size_t>(got);
      return static_cast<std::size_t>(got);
    }
  }

  std::size_t refill() {
    at_ = size_ = 0;
    return append();
  }

  std::size_t copy_into(std::span<char> into) {
    if (at_ == size_ && refill() == 0) return 0;
    const std::size_t count = std::min(into.size(), size_ - at_);
    std::memcpy(into.data(), buffer_.data() + at_, count);
    at_ += count;
    return count;
  }

  bool more_input() {
    if (stream_.avail_in > 0) return true;
    stream_.avail_in = static_cast<uInt>(refill());
    stream_.next_in = buffer_.data();
    return stream_.avail_in > 0;
  }

  std::size_t inflate_into(std::span<char> into, const std::string& where) {
    if (finished_) return 0;
    check_damage(where);
    constexpr std::size_t kMost = std::numeric_limits<uInt>::max();
    const auto room = static_cast<uInt>(std::min(into.size(), kMost));
    stream_.next_out = reinterpret_cast<Bytef*>(into.data());
    stream_.avail_out = room;
    while (stream_.avail_out == room) {
      if (between_members_ && !next_member(where)) break;
      if (!more_input()) {
        throw_input_error({where, "a whole gzip stream", "the end of the file inside it (cut short)"});
      }
      const int result = ::inflate(&stream_, Z_NO_FLUSH);
      if (result == Z_STREAM_END) {
        between_members_ = true;
      } else if (result != Z_OK && result != Z_BUF_ERROR) {
        damage_ = stream_.msg != nullptr ? stream_.msg : fmt::format("zlib error {}", result);
        break;
      }
    }
    if (stream_.avail_out == room) check_damage(where);
    return room - stream_.avail_out;
  }

  // Kept for the call behind the one that hands out the last good bytes.
  void check_damage(const std::string& where) const {
    if (!damage_.empty()) throw_input_error({where, "an undamaged gzip stream", damage_});
  }

  // Whether another gzip member follows. Zeros behind the last one are padding, as gzip(1) takes them.
  bool next_member(const std::string& where) {
    while (more_input() && *stream_.next_in == 0) {
      ++stream_.next_in;
      --stream_.avail_in;
    }
    if (stream_.avail_in == 0) {
      finished_ = true;
      return false;
    }
    if (*stream_.next_in != kMagic[0]) {
      throw_input_error({where, "another gzip member or the end of the file",
                         fmt::format("byte 0x{:02x} behind the gzip stream", *stream_.next_in)});
    }
    BUOY_CHECK(::inflateReset(&stream_) == Z_OK);
    between_members_ = false;
    return true;
  }

  std::string name_, damage_;
  std::vector<Bytef> buffer_;
  std::size_t at_ = 0, size_ = 0;
  int fd_ = -1;
  z_stream stream_{};
  bool compressed_ = false, between_members_ = false, finished_ = false;
};

ByteSource::ByteSource(const std::filesystem::path& path) : impl_(std::make_unique<Impl>(path)) {}
ByteSource::~ByteSource() = default;
ByteSource::ByteSource(ByteSource&&) noexcept = default;
ByteSource& ByteSource::operator=(ByteSource&&) noexcept = default;

bool ByteSource::compressed() const {
  return impl_->compressed();
}

std::size_t ByteSource::read(std::span<char> into, const std::string& where) {
  return impl_->read(into, where);
}

}  // namespace buoy::questions
