#include "buoy/base/file/placed_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "buoy/base/error.h"
#include "buoy/base/file/disk_space.h"

namespace buoy {
namespace {

// Moves all bytes by calls that may move fewer than asked; a call that moves none is the end of the file or
// of the disk.
template <typename Call>
void move_all(const char* action, const std::string& target, std::uint64_t offset, size_t bytes,
              const Call& call) {
  size_t done = 0;
  while (done < bytes) {
    errno = 0;
    const ssize_t moved = call(done, static_cast<off_t>(offset + done));
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0) {
      throw_io_error(fmt::format("{} (expected {} bytes at {}, found {})", action, bytes, offset, done),
                     target, moved < 0 ? errno : EIO);
    }
    done += static_cast<size_t>(moved);
  }
}

}  // namespace

PlacedFile::PlacedFile(const std::filesystem::path& path)
    : target_(path.string()),
      partial_(fmt::format("{}.partial.{}", target_, ::getpid())),
      descriptor_(::open(partial_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) {
  if (descriptor_ < 0) throw_io_error("create", target_, errno);
}

PlacedFile::~PlacedFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(partial_.c_str());
}

void PlacedFile::reserve(std::uint64_t bytes) {
  if (::ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0) {
    throw_io_error(fmt::format("write (expected room for {} bytes)", bytes), target_, errno);
  }
  if (bytes == 0) return;
  int failure = 0;
  do {
    failure = ::fallocate(descriptor_, 0, 0, static_cast<off_t>(bytes)) == 0 ? 0 : errno;
  } while (failure == EINTR);
  // Other failures are of file systems that know no such call: their writes will say what there is to say.
  if (failure != ENOSPC && failure != EDQUOT && failure != EFBIG) return;
  throw_io_error(
      fmt::format("write (expected room for {} bytes, found {} free)", bytes, free_disk_bytes(partial_)),
      target_, failure);
}

void PlacedFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) const {
  move_all("write", target_, offset, bytes.size(), [&](size_t done, off_t at) {
    return ::pwrite(descriptor_, bytes.data() + done, bytes.size() - done, at);
  });
}

void PlacedFile::read_at(std::uint64_t offset, std::span<std::byte> bytes) const {
  move_all("read", target_, offset, bytes.size(), [&](size_t done, off_t at) {
    return ::pread(descriptor_, bytes.data() + done, bytes.size() - done, at);
  });
}

void PlacedFile::begin_sync(std::uint64_t offset, std::uint64_t bytes) const {
  (void)::sync_file_range(descriptor_, static_cast<off_t>(offset), static_cast<off_t>(bytes),
                          SYNC_FILE_RANGE_WRITE);
}

void PlacedFile::commit() {
  const int descriptor = std::exchange(descriptor_, -1);
  const char* failed = nullptr;
  if (::fsync(descriptor) != 0) failed = "sync";
  int failure = errno;
  if (::close(descriptor) != 0 && failed == nullptr) failed = "close", failure = errno;
  if (failed == nullptr && ::rename(partial_.c_str(), target_.c_str()) != 0)
    failed = "rename onto", failure = errno;
  if (failed == nullptr) return;
  ::unlink(partial_.c_str());
  throw_io_error(failed, target_, failure);
}

}  // namespace buoy
