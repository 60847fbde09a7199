#pragma once

#include <cstddef>
#include <cstdint>

#include "buoy/text/chat/jinja/jinja_error.h"

namespace buoy::text::jinja {

// How much one rendering may take; templates come from strangers.
struct Limits {
  std::uint64_t steps = 20'000'000;              // nodes visited, items looked at
  std::uint64_t bytes = std::uint64_t{1} << 29;  // of all texts and lists made on the way
  int depth = 1000;                              // expressions, statements and macros inside each other
};

class Budget {
 public:
  explicit Budget(const Limits& limits) : left_(limits) {}

  void spend_steps(std::uint64_t count = 1) {
    if (count > left_.steps) throw Refusal("more steps than a rendering may take");
    left_.steps -= count;
  }
  void spend_bytes(std::uint64_t count) {
    if (count > left_.bytes) throw Refusal("more memory than a rendering may take");
    left_.bytes -= count;
    spend_steps(count / 64);
  }
  void enter() {
    if (left_.depth <= 0) throw Refusal("more nesting than a rendering may have");
    --left_.depth;
  }
  void leave() { ++left_.depth; }

 private:
  Limits left_;
};

// One level of nesting, for as long as it lives.
class Nested {
 public:
  explicit Nested(Budget& budget) : budget_(budget) { budget_.enter(); }
  ~Nested() { budget_.leave(); }
  Nested(const Nested&) = delete;
  Nested& operator=(const Nested&) = delete;

 private:
  Budget& budget_;
};

}  // namespace buoy::text::jinja
