#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace buoy {

// Where the time of a command went, part by part.
class Stopwatch {
 public:
  // What came since the last call (or the beginning) was `part`; parts of one name are added up.
  void lap(const std::string& part);
  // Seconds of a part that lies within others and is told beside them.
  void within(const std::string& part, double seconds);

  // "loading 1.21 s, decoding 6.40 s (of this, handing records on 0.31 s), writing 0.20 s; 7.81 s in all"
  std::string describe() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Part {
    std::string name;
    double seconds;
    bool inside;
  };
  void add(const std::string& name, double seconds, bool inside);

  Clock::time_point last_ = Clock::now();
  std::vector<Part> parts_;
};

}  // namespace buoy
