#include "buoy/base/interrupt.h"

#include <unistd.h>
#include <initializer_list>

#include <atomic>
#include <csignal>
#include <cstring>

namespace buoy {
namespace {

std::atomic<const char*> g_hint{"buoy: interrupted\n"};
std::atomic<const char*> g_restore{""};
static_assert(std::atomic<const char*>::is_always_lock_free);  // a signal handler may use them

void put(const char* text) {
  const size_t length = std::strlen(text);
  if (length > 0 && ::write(STDERR_FILENO, text, length) < 0) return;  // nobody is left to be told
}

void handle(int signal) {
  put(g_restore.load());
  put(g_hint.load());
  ::raise(signal);  // the handler is gone by now (SA_RESETHAND): this ends the program
}

}  // namespace

void catch_interrupts() {
  for (const int signal : {SIGINT, SIGTERM}) {
    struct sigaction before {};
    if (::sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_IGN) continue;
    struct sigaction action {};
    action.sa_handler = handle;
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
    ::sigemptyset(&action.sa_mask);
    ::sigaction(signal, &action, nullptr);
  }
}

void say_when_interrupted(const char* text) {
  g_hint.store(text);
}

void restore_when_interrupted(const char* bytes) {
  g_restore.store(bytes);
}

}  // namespace buoy
