#include "buoy/base/file/scratch_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "buoy/base/error.h"

namespace buoy {
namespace {

std::string folder_or_default(const std::filesystem::path& folder) {
  if (!folder.empty()) return folder.string();
  std::error_code none;
  const auto found = std::filesystem::temp_directory_path(none);
  return none ? "/tmp" : found.string();
}

int open_nameless(const std::string& folder) {
  const int descriptor = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor >= 0) return descriptor;
  // Some file systems know no such files: the name goes as soon as there is one.
  std::string name = folder + "/scratch.XXXXXX";
  const int named = ::mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) ::unlink(name.c_str());
  return named;
}

}  // namespace

ScratchFile::ScratchFile(const std::filesystem::path& folder)
    : folder_(folder_or_default(folder)), descriptor_(open_nameless(folder_)) {
  if (descriptor_ < 0) throw_io_error("create a temporary file in", folder_, errno);
}

ScratchFile::~ScratchFile() {
  ::close(descriptor_);
}

void ScratchFile::append(std::span<const std::byte> bytes) {
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t moved =
        ::pwrite(descriptor_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(bytes_));
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0) {
      throw_io_error(fmt::format("write a temporary file of {} bytes in", bytes_ + bytes.size() - done),
                     folder_, moved < 0 ? errno : EIO);
    }
    done += static_cast<size_t>(moved);
    bytes_ += static_cast<std::uint64_t>(moved);
  }
}

void ScratchFile::read_at(std::uint64_t offset, std::span<std::byte> bytes) const {
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t moved =
        ::pread(descriptor_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0) throw_io_error("read a temporary file in", folder_, moved < 0 ? errno : EIO);
    done += static_cast<size_t>(moved);
  }
}

}  // namespace buoy
