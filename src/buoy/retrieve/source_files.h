#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace buoy::retrieve {

enum class SourceKind {
  kText,       // one document: .txt
  kMarkdown,   // one document, titled by its first heading: .md
  kJsonLines,  // one document per line: .jsonl
};

// By the name, behind which ".gz" may stand; nothing when Buoy does not read such files.
std::optional<SourceKind> source_kind(const std::filesystem::path& path);

struct SourceFile {
  std::string name;  // as given, or as found in the folder given
  SourceKind kind;
  std::uint64_t bytes;  // on the disk
};

struct SourceList {
  std::vector<SourceFile> files;  // in the order given; those of a folder by name
  std::size_t passed_over = 0;    // files in folders that are of no kind above
};

// Files, and folders with everything below them. Throws IoError for what cannot be read, InputError for a
// file of another kind and a folder without documents, UsageError for a file that is given twice.
SourceList list_sources(const std::vector<std::filesystem::path>& given);

// Bytes of text in the file: what a gzip file says of itself, which may be wrong. For estimates of time only.
std::uint64_t expected_text_bytes(const SourceFile& file);

}  // namespace buoy::retrieve
