#pragma once

#include <string>
#include <vector>

#include "app/program.h"
#include "support/temp_folder.h"

namespace buoy::testing {

// A working directory in which the examples of the help and the commands of the README run as they stand: the
// bundled models and studies (with few questions), tiny random models under the names of released ones, data,
// documents, traces.
class ExampleWorkshop {
 public:
  ExampleWorkshop();

  // Runs one shell line. What it writes with --out is removed first, since what others read has the same
  // name.
  ProgramResult run(const std::string& line) const;

 private:
  void must(const std::string& line) const;
  void add_models() const;
  void add_studies() const;
  void add_data() const;
  void add_traces() const;

  TempFolder folder_;
};

}  // namespace buoy::testing
