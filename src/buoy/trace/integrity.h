#pragma once

namespace buoy::trace {

// What a reader compares before anything is computed from a trace: with kChecksum every sum that is stored,
// with kSizeOnly the sizes of files alone (for whoever knows where the trace comes from). The schema is
// checked either way.
enum class Integrity { kSizeOnly, kChecksum };

}  // namespace buoy::trace
