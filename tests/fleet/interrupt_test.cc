// A sample that takes longer than whoever stops the run waits.

#include "buoy/base/interrupt.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>

namespace buoy {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point then) {
  return std::chrono::duration<double>(Clock::now() - then).count();
}

// A process in the middle of a sample that takes half a minute.
class LongSample {
 public:
  explicit LongSample(unsigned seconds) {
    EXPECT_EQ(::pipe(said_.data()), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(said_[1], STDERR_FILENO);
      stop_behind_sample(75, seconds);
      if (::write(STDERR_FILENO, "ready\n", 6) != 6) ::_exit(1);
      const auto began = Clock::now();
      while (seconds_since(began) < 30) ::usleep(10000);
      ::_exit(stop_requested() ? 2 : 3);
    }
    ::close(said_[1]);
    EXPECT_EQ(heard(), "ready\n");
  }
  ~LongSample() {
    ::kill(pid_, SIGKILL);
    ::close(said_[0]);
  }

  void tell(int signal) const { ::kill(pid_, signal); }
  std::string heard() const {
    std::array<char, 200> text{};
    const auto length = ::read(said_[0], text.data(), text.size());
    return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(length, 0))};
  }
  int exit_code() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  }

 private:
  std::array<int, 2> said_{};
  pid_t pid_ = 0;
};

TEST(LongSamples, AreLeftWhenTheTimeToStopIsOver) {
  for (const int signal : {SIGTERM, SIGUSR1}) {
    LongSample sample(1);
    const auto told = Clock::now();
    sample.tell(signal);
    EXPECT_EQ(sample.heard(), "buoy: told to stop; ending behind the sample in hand\n");
    EXPECT_EQ(sample.exit_code(), 75);
    EXPECT_GT(seconds_since(told), 0.9);
    EXPECT_LT(seconds_since(told), 15);
  }
}

TEST(LongSamples, AreLeftAtOnceAtTheSecondSignal) {
  LongSample sample(25);
  const auto told = Clock::now();
  sample.tell(SIGUSR1);
  EXPECT_EQ(sample.heard(), "buoy: told to stop; ending behind the sample in hand\n");
  sample.tell(SIGTERM);
  EXPECT_EQ(sample.exit_code(), 75);
  EXPECT_LT(seconds_since(told), 15);
}

}  // namespace
}  // namespace buoy
