#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace buoy {

// A file that one process appends to: opened or made, and locked until the process ends or lets it go.
// Errors are IoErrors that name the file; UsageError when somebody else has it.
class LockedFile {
 public:
  // `what` is written to, as the error says it: "a trace".
  LockedFile(std::filesystem::path path, const char* what);
  ~LockedFile();
  LockedFile(LockedFile&& other) noexcept;
  LockedFile& operator=(LockedFile&& other) noexcept;

  // Whether somebody has the file open just now; false when there is none.
  static bool is_locked(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  std::uint64_t size() const;

  // Appends. When that fails, what was written of it is taken back, as far as the disk allows.
  void append(std::string_view bytes);
  void sync();
  void truncate(std::uint64_t size);
  // Onto another name in the same folder; the lock stays with the file.
  void rename(const std::filesystem::path& path);
  void remove();

 private:
  std::filesystem::path path_;
  int fd_ = -1;
};

}  // namespace buoy
