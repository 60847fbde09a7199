#pragma once

namespace buoy {

// From now on Ctrl-C and SIGTERM put the terminal in order, say how to go on, and then end the program by
// the signal itself, so that a shell sees 130 and 143. Files are left as a kill leaves them. A signal that
// is ignored (nohup) stays so.
void catch_interrupts();

// What the program says when it is interrupted from here on. Texts must live as long as the program, since
// a signal may come at any time.
void say_when_interrupted(const char* text);

// Bytes that put the terminal in order, while there is something to put in order; "" for nothing.
void restore_when_interrupted(const char* bytes);

}  // namespace buoy
