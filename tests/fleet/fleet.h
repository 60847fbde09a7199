#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "app/program.h"
#include "support/temp_folder.h"

namespace buoy::testing {

// The files that a run leaves, by their paths; what stands beside them of its parts is left out.
using Files = std::map<std::string, std::string>;
Files run_files(const std::filesystem::path& folder);
::testing::AssertionResult same_run(const std::filesystem::path& a, const std::filesystem::path& b);

// Runs of the planted networks on a few questions, each in a folder of its own with `--out run`, so that
// their commands have the same words.
class FleetTest : public ::testing::Test {
 protected:
  FleetTest();

  // The words of a command on the questions.
  static const std::vector<std::string>& trace();
  static const std::vector<std::string>& eval();
  static const std::vector<std::string>& watch();

  // In a folder of the scratch folder; `prelude` is shell text in front ("BUOY_SHARD=0/2 ").
  ProgramResult run(const std::string& place, const std::vector<std::string>& words,
                    const std::vector<std::string>& more = {}, const std::string& prelude = "");
  void run_well(const std::string& place, const std::vector<std::string>& words,
                const std::vector<std::string>& more = {}, const std::string& prelude = "");
  // A command, as bash takes it.
  static std::string line(const std::vector<std::string>& words);
  // Bash that waits until a part ("0001-of-0002", "*") has a whole sample.
  static std::string until_a_sample(const std::string& part);
  // So many questions, in place of the few.
  void ask(int questions);
  // Text of bash in the place.
  ProgramResult shell(const std::string& place, const std::string& text);
  // Kills joins of two parts at so many random moments. Each is done again, and leaves the run of one
  // process.
  void kill_joins(const std::vector<std::string>& words, int moments);
  std::filesystem::path out(const std::string& place) const { return scratch_ / place / "run"; }

  TempFolder scratch_;
};

}  // namespace buoy::testing
