#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace buoy::testing {

struct ProgramResult {
  int exit_code;
  std::string out, err;
};

// Runs the built `buoy` with these arguments. `prelude` is shell text in front of it ("ulimit -f 1;").
ProgramResult run_buoy(const std::vector<std::string>& arguments, const std::string& prelude = "");

// Runs a line of bash, in which BUOY_PROGRAM is the program.
ProgramResult run_shell(const std::string& line);

// A random LLaDA or Llama with the tiny tokenizer of tests/data/text, able to chat.
void write_talking_model(const std::filesystem::path& folder, bool masked_diffusion);

}  // namespace buoy::testing
