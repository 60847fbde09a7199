#include "buoy/base/say.h"

#include <cstdio>

namespace buoy {
namespace {

Wording& wording() {
  static Wording chosen = nullptr;
  return chosen;
}

}  // namespace

void word_messages(Wording chosen) {
  wording() = chosen;
}

std::string worded(const std::string& message) {
  return wording() == nullptr ? message : wording()(message);
}

void say_text(std::string_view text) {
  const std::string said = worded(std::string(text));
  std::fwrite(said.data(), 1, said.size(), stderr);
  std::clearerr(stderr);
}

}  // namespace buoy
