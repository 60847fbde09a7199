#include "trace/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/json_file.h"
#include "trace/manifest_json.h"

namespace buoy::trace {
namespace {

struct stat inspect(int fd, const std::filesystem::path& path) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) throw_io_error("inspect", path.string(), errno);
  return status;
}

// 0, or the error number.
int write_and_sync(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return ::fsync(fd) == 0 ? 0 : errno;
}

// Whoever asks is_being_written() holds the lock for an instant; a run that begins then must not be refused.
int lock(int fd) {
  constexpr int kAttempts = 20, kPause = 10'000;  // microseconds
  for (int attempt = 1;; ++attempt) {
    if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return 0;
    if (errno != EWOULDBLOCK || attempt == kAttempts) return errno;
    ::usleep(kPause);
  }
}

}  // namespace

bool is_being_written(const std::filesystem::path& journal) {
  const int fd = ::open(journal.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;  // none, or not ours to read
  const bool locked = ::flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(fd);
  return locked;
}

Journal::Journal(std::filesystem::path path) : path_(std::move(path)) {
  const std::string name = path_.string();
  for (;;) {
    fd_ = ::open(name.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (fd_ < 0) throw_io_error("open", name, errno);
    int failure = lock(fd_);
    struct stat status {};
    if (failure == 0 && ::fstat(fd_, &status) != 0) failure = errno;
    if (failure == 0 && status.st_nlink > 0) return;
    ::close(std::exchange(fd_, -1));
    if (failure == EWOULDBLOCK) {
      throw_usage_error({name, "a trace that nobody is writing", "another run writing to it"});
    }
    if (failure != 0) throw_io_error("lock", name, failure);
    // Otherwise another run finished and removed the file between our open and our lock.
  }
}

Journal::~Journal() {
  if (fd_ >= 0) ::close(fd_);
}

Journal::Journal(Journal&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)) {}

Journal& Journal::operator=(Journal&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  return *this;
}

void Journal::append(const SampleEntry& entry) {
  const auto size = static_cast<std::uint64_t>(inspect(fd_, path_).st_size);
  const int failure = write_and_sync(fd_, format_entry(entry) + "\n");
  if (failure == 0) return;
  truncate(size);  // half a line in the middle would spoil the lines after it
  throw_io_error("write", path_.string(), failure);
}

void Journal::clear() {
  truncate(0);
}

void Journal::drop_torn_line() {
  const std::string text = read_file(path_);
  const size_t end = text.rfind('\n');
  truncate(end == std::string::npos ? 0 : end + 1);
}

void Journal::remove() {
  if (::unlink(path_.c_str()) != 0) throw_io_error("remove", path_.string(), errno);
}

void Journal::truncate(std::uint64_t size) {
  if (::ftruncate(fd_, static_cast<off_t>(size)) != 0 || ::fsync(fd_) != 0) {
    throw_io_error("shorten", path_.string(), errno);
  }
}

std::map<std::string, SampleEntry> read_journal(const std::filesystem::path& path) {
  std::map<std::string, SampleEntry> entries;
  if (!path_exists(path)) return entries;
  const std::string text = read_file(path);
  size_t line = 1;
  for (size_t begin = 0, end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1, ++line) {
    const std::string name = fmt::format("{}: line {}", path.string(), line);
    const Json json = parse_json(std::string_view(text).substr(begin, end - begin), name);
    const SampleEntry entry = parse_entry(json, name);
    entries[entry.id] = entry;
  }
  return entries;
}

}  // namespace buoy::trace
