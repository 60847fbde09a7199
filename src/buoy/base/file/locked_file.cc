#include "buoy/base/file/locked_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "buoy/base/error.h"

namespace buoy {
namespace {

// Whether the open file is still the one of this name: another process may have finished with it, and have
// removed or renamed it, between our open and our lock. An error number in `failure`.
bool still_there(int fd, const std::string& name, int& failure) {
  struct stat opened {
  }, named{};
  if (::fstat(fd, &opened) != 0) {
    failure = errno;
    return false;
  }
  if (::stat(name.c_str(), &named) != 0) {
    failure = errno == ENOENT ? 0 : errno;
    return false;
  }
  return opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

// 0, or the error number. Whoever asks is_locked() holds the lock for an instant; a run that begins then must
// not be refused.
int lock(int fd) {
  constexpr int kAttempts = 20, kPause = 10'000;  // microseconds
  for (int attempt = 1;; ++attempt) {
    if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return 0;
    if (errno != EWOULDBLOCK || attempt == kAttempts) return errno;
    ::usleep(kPause);
  }
}

}  // namespace

bool LockedFile::is_locked(const std::filesystem::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;  // none, or not ours to read
  const bool locked = ::flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(fd);
  return locked;
}

LockedFile::LockedFile(std::filesystem::path path, const char* what) : path_(std::move(path)) {
  const std::string name = path_.string();
  for (;;) {
    fd_ = ::open(name.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (fd_ < 0) throw_io_error("open", name, errno);
    int failure = lock(fd_);
    if (failure == 0 && still_there(fd_, name, failure)) return;
    ::close(std::exchange(fd_, -1));
    if (failure == EWOULDBLOCK) {
      throw_usage_error({name, fmt::format("{} that nobody is writing", what), "another run writing to it"});
    }
    if (failure != 0) throw_io_error("lock", name, failure);
  }
}

LockedFile::~LockedFile() {
  if (fd_ >= 0) ::close(fd_);
}

LockedFile::LockedFile(LockedFile&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)) {}

LockedFile& LockedFile::operator=(LockedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  return *this;
}

std::uint64_t LockedFile::size() const {
  struct stat status {};
  if (::fstat(fd_, &status) != 0) throw_io_error("inspect", path_.string(), errno);
  return static_cast<std::uint64_t>(status.st_size);
}

void LockedFile::append(std::string_view bytes) {
  const std::uint64_t before = size();
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const int failure = errno;
      truncate(before);  // half a line in the middle would spoil the lines after it
      throw_io_error("write", path_.string(), failure);
    }
    bytes.remove_prefix(static_cast<size_t>(written));
  }
}

void LockedFile::sync() {
  if (::fsync(fd_) != 0) throw_io_error("write", path_.string(), errno);
}

void LockedFile::truncate(std::uint64_t size) {
  if (::ftruncate(fd_, static_cast<off_t>(size)) != 0 || ::fsync(fd_) != 0) {
    throw_io_error("shorten", path_.string(), errno);
  }
}

void LockedFile::rename(const std::filesystem::path& path) {
  if (::rename(path_.c_str(), path.c_str()) != 0) throw_io_error("rename onto", path.string(), errno);
  path_ = path;
}

void LockedFile::remove() {
  if (::unlink(path_.c_str()) != 0) throw_io_error("remove", path_.string(), errno);
}

}  // namespace buoy
