#pragma once

namespace buoy::app {

// Scripts can tell a wrong call from bad files from a failing machine from a bug. Ctrl-C ends the program by
// the signal, which a shell shows as 130; so does SIGTERM (143) where no samples are under way.
constexpr int kWrongUsage = 2;
constexpr int kBadInput = 3;
constexpr int kMachineFailed = 4;
constexpr int kBug = 70;
constexpr int kStopped = 75;  // SIGTERM or SIGUSR1 behind the sample in hand, or parts of others are missing
constexpr int kReaderGone = 141;  // 128 + SIGPIPE

}  // namespace buoy::app
