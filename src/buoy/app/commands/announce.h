#pragma once

#include <filesystem>

#include "buoy/base/file/disk_space.h"
#include "buoy/base/interrupt.h"
#include "buoy/base/say.h"
#include "buoy/run/sample_bytes.h"

namespace buoy::app {

// What a run of samples says when it is interrupted.
inline void say_how_samples_go_on() {
  say_when_interrupted(
      "buoy: interrupted; the same command with --resume goes on behind the last whole sample\n");
}

// What a run will write, said before it begins.
inline void announce_bytes(const run::RunBytes& bytes, const std::filesystem::path& folder) {
  if (bytes.each.full == 0) return;  // no prompt could be made: the samples will say why
  say("{}\n", run::describe(bytes, free_disk_bytes(folder)));
}

}  // namespace buoy::app
