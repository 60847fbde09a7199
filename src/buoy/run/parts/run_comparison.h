#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace buoy::run {

// How the answers or samples of one run differ from those of another that asked the same: on a GPU, runs that
// pack questions differently round them differently (docs/decisions/0003).
struct RunDifferences {
  bool traces = false;
  std::size_t compared = 0;          // answers, or samples
  std::size_t differ = 0;            // in anything
  std::size_t texts = 0;             // answers with another text; samples with other ids
  std::size_t ids = 0, all_ids = 0;  // of traces
  std::vector<std::string> first;    // where texts or ids differ, some of them
};

// Traces or evaluations, in parts or not. InputError where they do not ask the same questions.
RunDifferences compare_runs(const std::filesystem::path& run, const std::filesystem::path& other);

std::string describe(const RunDifferences& differences);

}  // namespace buoy::run
