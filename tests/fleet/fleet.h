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
  // A line of bash in the place.
  ProgramResult shell(const std::string& place, const std::string& line);
  std::filesystem::path out(const std::string& place) const { return scratch_ / place / "run"; }

  TempFolder scratch_;
};

}  // namespace buoy::testing
