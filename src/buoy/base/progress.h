#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>

namespace buoy {

// What, how far, how long still. On a terminal one line, rewritten at most five times a second; in a log or
// a pipe one line a minute, and a last one if there was any.
class Progress {
 public:
  using Clock = std::chrono::steady_clock;

  Progress(std::FILE* stream, std::string label, std::int64_t total,
           std::function<Clock::time_point()> now = Clock::now);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void advance(std::int64_t amount = 1);

 private:
  std::string line(Clock::time_point now) const;
  void put(const std::string& text);  // failures are ignored: a lost log ends no run

  std::FILE* stream_;
  std::string label_;
  std::int64_t total_;
  std::int64_t done_ = 0;
  bool terminal_, written_ = false;
  std::function<Clock::time_point()> now_;
  Clock::time_point started_, last_;
};

// "4 s", "2 min 5 s", "1 h 3 min".
std::string describe_duration(double seconds);
// "512 B", "1.50 GiB".
std::string describe_bytes(std::uint64_t bytes);

}  // namespace buoy
