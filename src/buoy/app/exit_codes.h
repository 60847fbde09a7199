#pragma once

namespace buoy::app {

// Scripts can tell a wrong call from bad files from a failing machine from a bug. Ctrl-C and SIGTERM end the
// program by the signal, which a shell shows as 130 and 143.
constexpr int kWrongUsage = 2;
constexpr int kBadInput = 3;
constexpr int kMachineFailed = 4;
constexpr int kBug = 70;
constexpr int kReaderGone = 141;  // 128 + SIGPIPE

}  // namespace buoy::app
