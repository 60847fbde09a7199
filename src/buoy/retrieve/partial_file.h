#pragma once

#include <filesystem>

namespace buoy::retrieve {

// A name beside the target under which another library writes a file, until it is whole and takes the
// target's name. Without commit() nothing is left behind. Errors are IoErrors that name the target.
class PartialFile {
 public:
  explicit PartialFile(std::filesystem::path target);  // makes the file, empty
  ~PartialFile();
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  void commit();  // syncs and renames; whoever wrote the file has closed it

 private:
  std::filesystem::path target_, path_;
  bool committed_ = false;
};

}  // namespace buoy::retrieve
