#include "buoy/base/file/disk_space.h"

#include <sys/statvfs.h>

#include <cerrno>
#include <system_error>

#include "buoy/base/error.h"
#include "buoy/base/file/files.h"

namespace buoy {
namespace fs = std::filesystem;

std::uint64_t free_disk_bytes(const fs::path& path) {
  fs::path there = fs::absolute(path).lexically_normal();
  while (there.has_relative_path() && !path_exists(there)) there = there.parent_path();
  struct statvfs disk {};
  if (::statvfs(there.c_str(), &disk) != 0) throw_io_error("inspect the disk of", there.string(), errno);
  return static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize;
}

std::uint64_t bytes_in_folder(const fs::path& folder) {
  if (!path_exists(folder)) return 0;
  std::uint64_t bytes = 0;
  std::error_code failure;
  for (fs::recursive_directory_iterator at(folder, failure), end; !failure && at != end;
       at.increment(failure)) {
    std::error_code gone;  // a file may vanish while we look
    if (at->is_regular_file(gone) && !gone) bytes += at->file_size(gone);
  }
  if (failure) throw_io_error("list", folder.string(), failure.value());
  return bytes;
}

}  // namespace buoy
