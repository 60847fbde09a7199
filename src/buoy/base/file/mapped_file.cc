#include "buoy/base/file/mapped_file.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <utility>

#include "buoy/base/error.h"
#include "buoy/base/file/files.h"

namespace buoy {

MappedFile::MappedFile(const std::filesystem::path& path) {
  const std::string name = path.string();
  const int fd = open_regular_file(path);
  struct stat status {};
  int failure = ::fstat(fd, &status) != 0 ? errno : 0;
  if (failure == 0 && status.st_size > 0) {
    void* mapped = ::mmap(nullptr, static_cast<size_t>(status.st_size), PROT_READ, MAP_SHARED, fd, 0);
    if (mapped == MAP_FAILED) {
      failure = errno;
    } else {
      data_ = static_cast<const std::byte*>(mapped);
      size_ = static_cast<size_t>(status.st_size);
    }
  }
  ::close(fd);
  if (failure != 0) throw_io_error("map", name, failure);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

void MappedFile::release(std::span<const std::byte> part) const {
  // Whole pages inside the part only: those at its ends belong to its neighbours too.
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const size_t before = (page - reinterpret_cast<std::uintptr_t>(part.data()) % page) % page;
  if (before >= part.size()) return;
  const size_t whole = (part.size() - before) / page * page;
  if (whole > 0) ::madvise(const_cast<std::byte*>(part.data()) + before, whole, MADV_DONTNEED);
}

}  // namespace buoy
