#include "base/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <utility>

namespace buoy {

Progress::Progress(std::FILE* stream, std::string label, std::int64_t total)
    : stream_(stream),
      label_(std::move(label)),
      total_(total),
      visible_(::isatty(::fileno(stream)) == 1),
      started_(Clock::now()) {}

Progress::~Progress() {
  if (visible_ && drawn_ != Clock::time_point{}) std::fputs("\r\033[K", stream_), std::fflush(stream_);
}

void Progress::advance(std::int64_t amount) {
  done_ += amount;
  const auto now = Clock::now();
  if (visible_ && now - drawn_ > std::chrono::milliseconds(200)) draw(now);
}

void Progress::draw(Clock::time_point now) {
  drawn_ = now;
  const double elapsed = std::chrono::duration<double>(now - started_).count();
  const double left =
      done_ > 0 ? elapsed / static_cast<double>(done_) * static_cast<double>(total_ - done_) : 0;
  fmt::print(stream_, "\r\033[K{} {}/{}, {} so far, about {} left", label_, done_, total_,
             describe_duration(elapsed), describe_duration(left));
  std::fflush(stream_);
}

std::string describe_duration(double seconds) {
  const auto whole = std::llround(seconds);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole / 60 % 60);
}

std::string describe_bytes(std::uint64_t bytes) {
  constexpr std::array<const char*, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) value /= 1024, ++unit;
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.2f} {}", value, kUnits[unit]);
}

}  // namespace buoy
