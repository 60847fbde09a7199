#include "buoy/base/file/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "buoy/base/error.h"
#include "buoy/base/file/atomic_file.h"

namespace buoy {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return fd_; }

 private:
  int fd_;
};

std::filesystem::file_type type_of(const std::filesystem::path& path) {
  std::error_code failure;
  const auto type = std::filesystem::status(path, failure).type();
  if (type == std::filesystem::file_type::none) throw_io_error("inspect", path.string(), failure.value());
  if (type == std::filesystem::file_type::not_found && std::filesystem::is_symlink(path, failure)) {
    const auto target = std::filesystem::read_symlink(path, failure);
    throw_input_error({path.string(), "a file or a folder",
                       fmt::format("a link to {}, which is not there (a download that was not finished?)",
                                   target.string())});
  }
  return type;
}

const char* kind_of(mode_t mode) {
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return S_ISCHR(mode) || S_ISBLK(mode) ? "a device" : "something else";
}

void read_to_end(int fd, const std::string& name, std::uintmax_t limit, std::string& bytes) {
  char chunk[1 << 16];
  for (;;) {
    const ssize_t got = ::read(fd, chunk, sizeof chunk);
    if (got < 0) {
      if (errno == EINTR) continue;
      throw_io_error("read", name, errno);
    }
    if (got == 0) return;
    bytes.append(chunk, static_cast<size_t>(got));
    if (bytes.size() > limit) throw_input_error({name, fmt::format("at most {} bytes", limit), "more"});
  }
}

}  // namespace

bool path_exists(const std::filesystem::path& path) {
  return type_of(path) != std::filesystem::file_type::not_found;
}

bool is_folder(const std::filesystem::path& path) {
  return type_of(path) == std::filesystem::file_type::directory;
}

void throw_cannot_open(const std::string& path, int error_number) {
  if (error_number == ENOENT)
    throw InputError(path + ": cannot open: " + std::generic_category().message(error_number));
  throw_io_error("open", path, error_number);
}

void make_folder(const std::filesystem::path& folder) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) throw_io_error("make the folder", folder.string(), failure.value());
}

int open_regular_file(const std::filesystem::path& path) {
  const std::string name = path.string();
  // Without O_NONBLOCK a pipe nobody writes to would wait here; regular files do not mind.
  const int fd = ::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) throw_cannot_open(name, errno);
  struct stat status {};
  if (::fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) return fd;
  ::close(fd);
  if (S_ISDIR(status.st_mode)) throw_io_error("read", name, EISDIR);
  throw_input_error({name, "a regular file", kind_of(status.st_mode)});
}

std::string read_file(const std::filesystem::path& path, std::uintmax_t limit) {
  const Descriptor file(open_regular_file(path));
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) throw_io_error("inspect", path.string(), errno);
  if (static_cast<std::uintmax_t>(status.st_size) > limit) {
    throw_input_error(
        {path.string(), fmt::format("at most {} bytes", limit), fmt::format("{} bytes", status.st_size)});
  }
  std::string bytes;
  bytes.reserve(static_cast<size_t>(status.st_size));
  read_to_end(file.get(), path.string(), limit, bytes);
  return bytes;
}

std::string read_standard_input(std::uintmax_t limit) {
  std::string bytes;
  read_to_end(STDIN_FILENO, "standard input", limit, bytes);
  return bytes;
}

void write_file_atomically(const std::filesystem::path& path, std::string_view bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

}  // namespace buoy
