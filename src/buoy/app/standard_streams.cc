#include "buoy/app/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <system_error>

#include "buoy/app/exit_codes.h"
#include "buoy/base/say.h"

namespace buoy::app {

void open_missing_streams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest free descriptor is taken, which is this one.
    if (::open("/dev/null", fd == STDOUT_FILENO ? O_RDONLY : O_RDWR) != fd) return;
  }
}

int report_output_failure(int error_number) {
  if (error_number == EPIPE) return kReaderGone;
  say("buoy: standard output: cannot write: {}\n", std::generic_category().message(error_number));
  return kMachineFailed;
}

int close_output(int code) {
  const bool failed_before = std::ferror(stdout) != 0;
  errno = 0;
  const bool failed = std::fclose(stdout) != 0;
  if (code != 0 || (!failed && !failed_before)) return code;
  return report_output_failure(errno != 0 ? errno : EIO);
}

}  // namespace buoy::app
