#pragma once

namespace buoy::app {

// A program started with a closed descriptor 0, 1 or 2 would write its output into the next file it opens.
// Closed ones lead to /dev/null instead; writing to a closed standard output still fails.
void open_missing_streams();

// For an error while writing standard output: says so and returns the exit code. Who closed the pipe we write
// to (`buoy ... | head -1`) has read enough: nothing is said, and the code is a shell's for SIGPIPE.
int report_output_failure(int error_number);

// Writes out what is buffered and closes standard output. Returns `code`, or that of a failure if it is 0.
int close_output(int code);

}  // namespace buoy::app
