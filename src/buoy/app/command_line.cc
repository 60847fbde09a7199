#include "buoy/app/command_line.h"

#include <fmt/format.h>

namespace buoy::app {
namespace {

std::string& command_line() {
  static std::string command;
  return command;
}

}  // namespace

void remember_command(int argc, char** argv) {
  for (int i = 0; i < argc; ++i) command_line() += fmt::format("{}{}", i == 0 ? "" : " ", argv[i]);
}

const std::string& command_as_typed() {
  return command_line();
}

}  // namespace buoy::app
