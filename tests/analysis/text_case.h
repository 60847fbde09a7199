#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "buoy/trace/manifest.h"
#include "buoy/trace/sample.h"

namespace buoy::testing {

// A test as text: small traces, a command, the tables it must give. See tests/data/analysis/README.md.
struct TextTrace {
  trace::Manifest manifest;
  std::vector<trace::Sample> samples;
};

struct Expectation {
  int line = 0;
  std::string table;
  std::map<std::string, std::string> where;    // only rows with these values
  std::vector<std::string> columns;            // only these columns
  std::vector<std::vector<std::string>> rows;  // as written
};

struct Command {
  int line = 0;
  std::string analysis;
  std::vector<std::string> traces;
  std::map<std::string, std::string> options;
  std::string error;  // the message must hold this; "" when none is expected
  std::vector<Expectation> expected;
};

struct TextCase {
  std::map<std::string, TextTrace> traces;
  std::vector<Command> commands;
};

// Throws std::runtime_error naming file and line.
TextCase read_text_case(const std::filesystem::path& file);

// Writes a trace to a new folder.
void write_trace(const std::filesystem::path& folder, const TextTrace& trace);

}  // namespace buoy::testing
