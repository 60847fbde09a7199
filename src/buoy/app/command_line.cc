#include "buoy/app/command_line.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace buoy::app {
namespace {

std::vector<std::string>& all_words() {
  static std::vector<std::string> words;
  return words;
}

std::string& command_line() {
  static std::string command;
  return command;
}

constexpr std::array<std::string_view, 2> kPartOptions = {"--shard", "--processes"};

bool is_part_option(std::string_view word) {
  return std::find(kPartOptions.begin(), kPartOptions.end(), word) != kPartOptions.end();
}

// "--shard=3/32"
bool is_part_option_with_value(std::string_view word) {
  const auto equals = word.find('=');
  return equals != std::string_view::npos && is_part_option(word.substr(0, equals));
}

}  // namespace

void remember_command(int argc, char** argv) {
  for (int i = 0; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (is_part_option(word)) {
      ++i;
      continue;
    }
    if (word == "--steal" || is_part_option_with_value(word)) continue;
    all_words().emplace_back(word);
    command_line() += (command_line().empty() ? "" : " ") + std::string(word);
  }
}

const std::string& command_as_typed() {
  return command_line();
}

const std::vector<std::string>& words_of_command() {
  return all_words();
}

}  // namespace buoy::app
