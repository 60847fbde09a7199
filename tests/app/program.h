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

// A fresh folder that is removed at the end of the test.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// A random LLaDA or Llama with the tiny tokenizer of tests/data/text, able to chat.
void write_talking_model(const std::filesystem::path& folder, bool masked_diffusion);

}  // namespace buoy::testing
