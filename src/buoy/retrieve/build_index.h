#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

#include "buoy/retrieve/description.h"
#include "buoy/retrieve/passage_splitter.h"

namespace buoy::retrieve {

struct BuildOptions {
  PassageOptions passages;
  bool stem = false;
  bool replace = false;  // an index that is already there
  // Bytes of the source files done, of all; called often.
  std::function<void(std::uint64_t done, std::uint64_t total)> on_progress;
};

struct BuildResult {
  Description description;
  std::size_t passed_over = 0;  // files in folders that hold no documents by their names
};

// Makes an index of documents: files and folders (source_files.h). It appears as `out` when it is whole; a
// build that fails or is interrupted leaves what was there. Holds no more than a document's line in memory,
// besides SQLite's buffers. UsageError when `out` exists and is not to be replaced; InputError when no
// document has a word.
BuildResult build_index(const std::vector<std::filesystem::path>& documents, const std::filesystem::path& out,
                        const BuildOptions& options);

}  // namespace buoy::retrieve
