#include "buoy/trace/folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>

#include "buoy/base/error.h"
#include "buoy/base/file/placed_file.h"

namespace buoy::trace {
namespace fs = std::filesystem;

bool is_partial_file(const std::string& name) {
  return !target_of_partial(name).empty();
}

std::vector<fs::path> list_folder(const fs::path& folder) {
  std::error_code failure;
  std::vector<fs::path> paths;
  for (fs::directory_iterator at(folder, failure), end; !failure && at != end; at.increment(failure)) {
    paths.push_back(at->path());
  }
  if (failure) throw_io_error("list", folder.string(), failure.value());
  std::sort(paths.begin(), paths.end());
  return paths;
}

void remove_file(const fs::path& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) throw_io_error("remove", path.string(), errno);
}

void sync_folder(const fs::path& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) throw_io_error("open", folder.string(), errno);
  const int failure = ::fsync(fd) == 0 ? 0 : errno;
  ::close(fd);
  if (failure != 0) throw_io_error("sync", folder.string(), failure);
}

void remove_partial_files(const fs::path& folder) {
  for (const fs::path& path : list_folder(folder)) {
    if (is_partial_file(path.filename().string())) remove_file(path);
  }
}

}  // namespace buoy::trace
