#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

namespace buoy {

// One line on a terminal, rewritten at most five times a second: what, how far, how long still. Silent
// when the stream is no terminal, so that logs stay readable.
class Progress {
 public:
  Progress(std::FILE* stream, std::string label, std::int64_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void advance(std::int64_t amount = 1);

 private:
  using Clock = std::chrono::steady_clock;

  void draw(Clock::time_point now);

  std::FILE* stream_;
  std::string label_;
  std::int64_t total_;
  std::int64_t done_ = 0;
  bool visible_;
  Clock::time_point started_, drawn_{};
};

// "4 s", "2 min 5 s", "1 h 3 min".
std::string describe_duration(double seconds);
// "512 B", "1.50 GiB".
std::string describe_bytes(std::uint64_t bytes);

}  // namespace buoy
