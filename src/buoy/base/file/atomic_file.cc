#include "buoy/base/file/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "buoy/base/error.h"

namespace buoy {

AtomicFile::AtomicFile(const std::filesystem::path& path)
    : target_(path.string()),
      partial_(fmt::format("{}.partial.{}", target_, ::getpid())),
      descriptor_(::open(partial_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) {
  if (descriptor_ < 0) throw_io_error("create", target_, errno);
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(partial_.c_str());
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      throw_io_error("write", target_, errno);
    }
    size_ += static_cast<std::uint64_t>(written);
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
}

void AtomicFile::overwrite(std::uint64_t offset, std::string_view bytes) {
  BUOY_CHECK(offset + bytes.size() <= size_);
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0) {
      if (errno == EINTR) continue;
      throw_io_error("write", target_, errno);
    }
    offset += static_cast<std::uint64_t>(written);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
}

void AtomicFile::commit() {
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
