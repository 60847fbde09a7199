#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>

namespace buoy {

// Told of all progress of one thread, in place of a line on a stream: where there is none to look at, as in a
// notebook. `stage` is what tell_stage() said last, `label` what is counted. What it throws ends the work.
struct ProgressListener {
  virtual ~ProgressListener() = default;
  virtual void take(const std::string& stage, const std::string& label, std::int64_t done,
                    std::int64_t total) = 0;
};

// While it lives, progress that begins on this thread goes to the listener.
class ProgressTo {
 public:
  explicit ProgressTo(ProgressListener& listener);
  ~ProgressTo();
  ProgressTo(const ProgressTo&) = delete;
  ProgressTo& operator=(const ProgressTo&) = delete;

 private:
  ProgressListener* before_;
  std::string stage_before_;
};

// Work of several parts says which one begins: "2 of 7: report".
void tell_stage(const std::string& stage);

// What, how far, how long still. On a terminal one line, rewritten at most five times a second; in a log or
// a pipe one line a minute (BUOY_LOG_SECONDS), and a last one if there was any.
class Progress {
 public:
  using Clock = std::chrono::steady_clock;

  Progress(std::FILE* stream, std::string label, std::int64_t total,
           std::function<Clock::time_point()> now = Clock::now);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void advance(std::int64_t amount = 1);
  void set_total(std::int64_t total) { total_ = total; }  // where more becomes known

 private:
  std::string line(Clock::time_point now) const;
  void put(const std::string& text);  // failures are ignored: a lost log ends no run

  std::FILE* stream_;
  ProgressListener* listener_;  // null: the stream
  std::string stage_, label_;
  std::int64_t total_;
  std::int64_t done_ = 0;
  bool terminal_, written_ = false;
  Clock::duration interval_;  // between two lines
  std::function<Clock::time_point()> now_;
  Clock::time_point started_, last_;
};

// "4 s", "2 min 5 s", "1 h 3 min".
std::string describe_duration(double seconds);
// "512 B", "1.50 GiB".
std::string describe_bytes(std::uint64_t bytes);

}  // namespace buoy
