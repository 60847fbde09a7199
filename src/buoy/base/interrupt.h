#pragma once

#include "buoy/base/error.h"

namespace buoy {

// From now on Ctrl-C and SIGTERM put the terminal in order, say how to go on, and then end the program by
// the signal itself, so that a shell sees 130 and 143. Files are left as a kill leaves them. A signal that
// is ignored (nohup) stays so.
void catch_interrupts();

// What the program says when it is interrupted from here on. Texts must live as long as the program, since
// a signal may come at any time.
void say_when_interrupted(const char* text);
const char* said_when_interrupted();

// Bytes that put the terminal in order, while there is something to put in order; "" for nothing.
void restore_when_interrupted(const char* bytes);

// A run ended behind the sample in hand, because it was told to.
class Stopped : public Error {
 public:
  using Error::Error;
};

// From now on SIGTERM and SIGUSR1 (a scheduler's: preemption, time limit) ask the run to end behind the
// sample in hand. Where that takes longer than `seconds` the program ends at once with `exit_code`: what it
// wrote is as a kill leaves it. A second signal does so too.
void stop_behind_sample(int exit_code, unsigned seconds);
bool stop_requested();
// Throws Stopped when it was requested.
void stop_here();

}  // namespace buoy
