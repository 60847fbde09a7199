#include "app/program.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <nlohmann/json.hpp>

#include <stdexcept>

#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"
#include "buoy/benchmark/random_checkpoint.h"
#include "support/golden.h"
#include "support/temp_folder.h"

namespace buoy::testing {
namespace fs = std::filesystem;

static std::string shell_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

ProgramResult run_buoy(const std::vector<std::string>& arguments, const std::string& prelude) {
  std::string command = prelude + shell_quoted(BUOY_PROGRAM);
  for (const auto& argument : arguments) command += " " + shell_quoted(argument);
  return run_shell(command);
}

ProgramResult run_shell(const std::string& line) {
  const TempFolder scratch;
  const std::string command =
      fmt::format("{{ {}\n}} > {} 2> {} < /dev/null", line, shell_quoted((scratch / "out").string()),
                  shell_quoted((scratch / "err").string()));
  const int status = std::system(fmt::format("bash -c {}", shell_quoted(command)).c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(scratch / "out"),
          read_file(scratch / "err")};
}

void write_talking_model(const fs::path& folder, bool masked_diffusion, int rows) {
  benchmark::ShapeOfModel shape{masked_diffusion ? Family::kLlada : Family::kLlama, 32, 2, 4, 4, 8, 64, rows};
  benchmark::write_random_checkpoint(folder, shape, 7);
  fs::copy_file(data_folder() / "text/tiny_tokenizer.json", folder / "tokenizer.json");
  Json config = read_json_file(folder / "config.json");
  config["eos_token_id"] = 295;
  if (masked_diffusion) config["mask_token_id"] = 296;
  write_file_atomically(folder / "config.json", config.dump());
}

}  // namespace buoy::testing
