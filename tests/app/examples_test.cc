// Every example in the help and every command in the README does what it says.

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <regex>
#include <sstream>

#include "app/example_workshop.h"
#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"
#include "buoy/retrieve/index.h"
#include "buoy/study/study.h"
#include "support/golden.h"

namespace buoy::testing {
namespace {

std::string source_file(const std::string& name) {
  return read_file(data_folder() / ".." / ".." / name);
}

bool can_run(const std::string& line) {
  const bool indexes = line.find("buoy index") != std::string::npos ||
                       line.find("buoy search") != std::string::npos ||
                       line.find("--retrieve") != std::string::npos;
  return (study::can_read_studies() || line.find("buoy study") == std::string::npos) &&
         (retrieve::can_index() || !indexes);
}

void expect_to_run(const ExampleWorkshop& workshop, const std::string& line) {
  if (!can_run(line)) return;
  const auto result = workshop.run(line);
  if (line.find("--device cuda") != std::string::npos && result.exit_code == 2) {
    EXPECT_NE(result.err.find("cuda"), std::string::npos) << line << "\n" << result.err;  // no GPU here
    return;
  }
  EXPECT_EQ(result.exit_code, 0) << line << "\n" << result.err;
}

struct ReadmeCommand {
  std::string line;
  std::string output;  // "": the README shows none
};

// Commands stand indented by four; a backslash at the end goes on in the next line. Behind "$ " the lines up
// to the next empty one are what the command prints.
std::vector<ReadmeCommand> readme_commands() {
  std::istringstream lines(source_file("README.md"));
  std::vector<ReadmeCommand> commands;
  bool goes_on = false, shows_output = false;
  for (std::string line; std::getline(lines, line);) {
    const bool indented = line.starts_with("    ");
    if (goes_on) {
      commands.back().line += line;
    } else if (shows_output && indented) {
      commands.back().output += line.substr(4) + "\n";
      continue;
    } else if (std::regex_search(line, std::regex("^    (\\$ )?(buoy|make|build/)"))) {
      shows_output = line.starts_with("    $ ");
      commands.push_back({line.substr(shows_output ? 6 : 4), ""});
    } else {
      shows_output = false;
      continue;
    }
    goes_on = commands.back().line.ends_with('\\');
    if (goes_on) commands.back().line.pop_back();
  }
  return commands;
}

TEST(Examples, OfTheHelpRun) {
  const auto described = run_buoy({"--describe"});
  ASSERT_EQ(described.exit_code, 0) << described.err;
  const Json root = Json::parse(described.out);
  std::vector<std::string> calls = root["examples"];
  ASSERT_FALSE(calls.empty());
  for (const auto& command : root["commands"]) {
    EXPECT_FALSE(command["examples"].empty()) << command["name"] << " has no example";
    for (const auto& call : command["examples"]) calls.push_back(call);
    const std::string help = run_buoy({command["name"], "--help"}).out;
    for (const auto& call : command["examples"])
      EXPECT_NE(help.find(call.get<std::string>()), std::string::npos) << call;
  }
  const ExampleWorkshop workshop;
  for (const auto& call : calls) expect_to_run(workshop, call);
  EXPECT_EQ(workshop.run(root["examples"].at(1)).out, " Emirex Group\n") << "what a newcomer sees first";
}

TEST(Examples, OfTheReadmeRun) {
  const auto commands = readme_commands();
  ASSERT_FALSE(commands.empty());
  const std::string makefile = source_file("Makefile");
  const ExampleWorkshop workshop;
  for (const auto& [command, output] : commands) {
    if (command.starts_with("make ")) {
      const std::string target = command.substr(5, command.find_first_of(" \t", 5) - 5);
      EXPECT_TRUE(std::regex_search(makefile, std::regex("(^|\n)" + target + ":"))) << command;
    } else {
      const auto call = std::regex_replace(command, std::regex("^build/[a-z]+/bin/buoy"), "buoy");
      expect_to_run(workshop, call);
      if (!output.empty()) {
        EXPECT_EQ(workshop.run(call).out, output) << command;
      }
    }
  }
}

}  // namespace
}  // namespace buoy::testing
