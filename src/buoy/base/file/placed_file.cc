#include "buoy/base/file/placed_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "buoy/base/error.h"
#include "buoy/base/file/disk_space.h"

namespace buoy {
namespace {

constexpr char kPartial[] = ".partial.";

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

// In memory: threads that write to one file wait for each other, and nothing else does. Elsewhere the disk is
// what takes time, and running out of it through a mapping would be a signal and no error.
bool is_in_memory(int descriptor) {
  struct statfs system {};
  return ::fstatfs(descriptor, &system) == 0 && static_cast<std::uint32_t>(system.f_type) == TMPFS_MAGIC;
}

}  // namespace

std::string target_of_partial(const std::string& name) {
  const size_t at = name.rfind(kPartial);
  const size_t number = at + std::strlen(kPartial);
  if (at == std::string::npos || number == name.size()) return "";
  return name.find_first_not_of("0123456789", number) == std::string::npos ? name.substr(0, at) : "";
}

PlacedFile::PlacedFile(const std::filesystem::path& path)
    : target_(path.string()),
      partial_(fmt::format("{}{}{}", target_, kPartial, ::getpid())),
      descriptor_(::open(partial_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) {
  if (descriptor_ < 0) throw_io_error("create", target_, errno);
}

PlacedFile::~PlacedFile() {
  unmap();
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(partial_.c_str());
}

void PlacedFile::unmap() {
  if (map_ != nullptr) ::munmap(map_, mapped_);
  map_ = nullptr;
}

void PlacedFile::refuse_size(std::uint64_t bytes, int failure) const {
  throw_io_error(
      fmt::format("write (expected room for {} bytes, found {} free)", bytes, free_disk_bytes(partial_)),
      target_, failure);
}

void PlacedFile::resize(std::uint64_t bytes) {
  unmap();
  if (::ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0) {
    throw_io_error(fmt::format("write (expected room for {} bytes)", bytes), target_, errno);
  }
  if (bytes == 0) return;
  struct stat now {};
  const std::uint64_t has =
      ::fstat(descriptor_, &now) == 0 ? static_cast<std::uint64_t>(now.st_blocks) * 512 : bytes;
  const bool reserves = ::fallocate(descriptor_, 0, 0, 1) == 0;
  if (reserves && bytes > has && bytes - has > free_disk_bytes(partial_)) refuse_size(bytes, ENOSPC);
  if (!reserves || !is_in_memory(descriptor_)) return;
  void* map = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  if (map == MAP_FAILED) return;  // writing needs none
  map_ = static_cast<std::byte*>(map);
  mapped_ = bytes;
}

void PlacedFile::take_room(std::uint64_t offset, std::uint64_t bytes) const {
  if (bytes == 0) return;
  int failure = 0;
  do {
    failure =
        ::fallocate(descriptor_, 0, static_cast<off_t>(offset), static_cast<off_t>(bytes)) == 0 ? 0 : errno;
  } while (failure == EINTR);
  if (failure == 0) return;
  // Other failures are of file systems that know no such call: their writes will say what there is to say.
  if (map_ != nullptr || failure == ENOSPC || failure == EDQUOT || failure == EFBIG)
    refuse_size(bytes, failure);
}

std::span<std::byte> PlacedFile::mapped(std::uint64_t offset, std::uint64_t bytes) const {
  if (map_ == nullptr || offset > mapped_ || bytes > mapped_ - offset) return {};
  return {map_ + offset, bytes};
}

void PlacedFile::let_go(std::uint64_t offset, std::uint64_t bytes) const {
  if (map_ == nullptr) return;
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const std::uint64_t begin = (offset + page - 1) / page * page, end = (offset + bytes) / page * page;
  if (begin < end) ::madvise(map_ + begin, end - begin, MADV_DONTNEED);
}

void PlacedFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) const {
  if (const auto to = mapped(offset, bytes.size()); !to.empty()) {
    std::memcpy(to.data(), bytes.data(), bytes.size());
    return;
  }
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
  unmap();
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
