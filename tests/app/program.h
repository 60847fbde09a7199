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

// A random LLaDA or Llama with the tiny tokenizer of tests/data/text (300 ids), able to chat. With more rows
// than 300 its embedding is padded beyond the tokenizer, as released ones are.
void write_talking_model(const std::filesystem::path& folder, bool masked_diffusion, int rows = 300);

}  // namespace buoy::testing
