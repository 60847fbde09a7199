#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "buoy/app/options/options.h"
#include "buoy/run/evaluation.h"

namespace buoy::app {

// Passages from an index in place of those of the data.
struct RetrievalOptions {
  std::string index;  // "": none
  std::size_t top = 5;
};

void add_retrieval_options(Command& command, RetrievalOptions& options, const std::string& group);

// Searches every question once and writes the data sets with what was found to RUN/retrieved/NAME.jsonl,
// which take the place of the originals; files that are there already stay. Without an index the data as it
// is.
std::vector<NamedPath> with_retrieved_passages(const RetrievalOptions& options,
                                               const std::vector<NamedPath>& data,
                                               const questions::ReadOptions& read,
                                               const std::filesystem::path& run_folder);

}  // namespace buoy::app
