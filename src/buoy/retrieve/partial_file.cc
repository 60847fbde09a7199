#include "buoy/retrieve/partial_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "buoy/base/error.h"

namespace buoy::retrieve {

PartialFile::PartialFile(std::filesystem::path target)
    : target_(std::move(target)), path_(fmt::format("{}.partial.{}", target_.string(), ::getpid())) {
  const int descriptor = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor < 0) throw_io_error("create", target_.string(), errno);
  ::close(descriptor);
}

PartialFile::~PartialFile() {
  if (!committed_) ::unlink(path_.c_str());
}

void PartialFile::commit() {
  const int descriptor = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) throw_io_error("open", target_.string(), errno);
  const int failure = ::fsync(descriptor) == 0 ? 0 : errno;
  ::close(descriptor);
  if (failure != 0) throw_io_error("sync", target_.string(), failure);
  if (::rename(path_.c_str(), target_.c_str()) != 0) throw_io_error("rename onto", target_.string(), errno);
  committed_ = true;
}

}  // namespace buoy::retrieve
