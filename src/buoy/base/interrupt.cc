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
static_assert(std::atomic<const char*>::is_always_lock_free &&
              std::atomic<int>::is_always_lock_free);  // a signal handler may use them

void put(const char* text) {
  const size_t length = std::strlen(text);
  if (length > 0 && ::write(STDERR_FILENO, text, length) < 0) return;  // nobody is left to be told
}

std::atomic<int> g_stop{0};
std::atomic<int> g_stop_code{0};
std::atomic<unsigned> g_stop_seconds{0};

void end_at_once(int) {
  put(g_restore.load());
  ::_exit(g_stop_code.load());
}

void ask_to_stop(int) {
  if (g_stop.exchange(1) != 0) end_at_once(0);
  put("buoy: told to stop; ending behind the sample in hand\n");
  ::alarm(g_stop_seconds.load());
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

void stop_behind_sample(int exit_code, unsigned seconds) {
  g_stop_code.store(exit_code);
  g_stop_seconds.store(seconds);
  for (const int signal : {SIGTERM, SIGUSR1, SIGALRM}) {
    struct sigaction action {};
    action.sa_handler = signal == SIGALRM ? end_at_once : ask_to_stop;
    action.sa_flags = SA_RESTART;
    ::sigemptyset(&action.sa_mask);
    ::sigaction(signal, &action, nullptr);
  }
}

bool stop_requested() {
  return g_stop.load() != 0;
}

void stop_here() {
  if (stop_requested()) throw Stopped("stopped behind the sample in hand");
}

void say_when_interrupted(const char* text) {
  g_hint.store(text);
}

const char* said_when_interrupted() {
  return g_hint.load();
}

void restore_when_interrupted(const char* bytes) {
  g_restore.store(bytes);
}

}  // namespace buoy
