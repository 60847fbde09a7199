#include "buoy/base/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <utility>

#include "buoy/base/environment_seconds.h"
#include "buoy/base/interrupt.h"

namespace buoy {
namespace {

constexpr auto kTerminalInterval = std::chrono::milliseconds(200);
constexpr double kLogSeconds = 60;

Progress::Clock::duration interval_between_lines(bool terminal) {
  if (terminal) return kTerminalInterval;
  const double seconds = environment_seconds("BUOY_LOG_SECONDS", kLogSeconds, 0, 86400);
  return std::chrono::duration_cast<Progress::Clock::duration>(std::chrono::duration<double>(seconds));
}

thread_local ProgressListener* t_listener = nullptr;
thread_local std::string t_stage;

}  // namespace

ProgressTo::ProgressTo(ProgressListener& listener)
    : before_(std::exchange(t_listener, &listener)), stage_before_(std::exchange(t_stage, {})) {}

ProgressTo::~ProgressTo() {
  t_listener = before_;
  t_stage = std::move(stage_before_);
}

void tell_stage(const std::string& stage) {
  if (t_listener == nullptr) return;
  t_stage = stage;
  t_listener->take(stage, "", 0, 0);
}

Progress::Progress(std::FILE* stream, std::string label, std::int64_t total,
                   std::function<Clock::time_point()> now)
    : stream_(stream),
      listener_(t_listener),
      stage_(t_stage),
      label_(std::move(label)),
      total_(total),
      terminal_(::isatty(::fileno(stream)) == 1),
      interval_(interval_between_lines(terminal_)),
      now_(std::move(now)),
      started_(now_()),
      last_(started_) {}

Progress::~Progress() {
  if (!written_) return;
  if (terminal_) {
    restore_when_interrupted("");
    put("\r\033[K");
  } else {
    put(fmt::format("{} {}/{}, {} in all\n", label_, done_, total_,
                    describe_duration(std::chrono::duration<double>(now_() - started_).count())));
  }
}

void Progress::advance(std::int64_t amount) {
  done_ += amount;
  if (listener_ != nullptr) return listener_->take(stage_, label_, done_, total_);
  const auto now = now_();
  if (now - last_ < interval_) return;
  last_ = now;
  written_ = true;
  if (terminal_) restore_when_interrupted("\n");
  put(terminal_ ? "\r\033[K" + line(now) : line(now) + '\n');
}

std::string Progress::line(Clock::time_point now) const {
  const double elapsed = std::chrono::duration<double>(now - started_).count();
  const double left =
      done_ > 0 ? elapsed / static_cast<double>(done_) * static_cast<double>(total_ - done_) : 0;
  return fmt::format("{} {}/{}, {} so far, about {} left", label_, done_, total_, describe_duration(elapsed),
                     describe_duration(left));
}

void Progress::put(const std::string& text) {
  std::fputs(text.c_str(), stream_);
  std::fflush(stream_);
  std::clearerr(stream_);
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
