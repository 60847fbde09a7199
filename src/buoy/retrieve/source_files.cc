#include "buoy/retrieve/source_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <set>
#include <system_error>

#include "buoy/base/error.h"
#include "buoy/base/file/files.h"

namespace buoy::retrieve {
namespace {

namespace fs = std::filesystem;

constexpr const char* kReadable = ".txt, .md or .jsonl, also with .gz behind it";

std::string lower_extension(const fs::path& path) {
  std::string extension = path.extension().string();
  for (char& c : extension) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return extension;
}

SourceFile source_file(const fs::path& path, SourceKind kind) {
  std::error_code failure;
  const auto bytes = fs::file_size(path, failure);
  if (failure) throw_io_error("inspect", path.string(), failure.value());
  return {path.lexically_normal().string(), kind, bytes};
}

std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code failure;
  fs::recursive_directory_iterator at(folder, failure);
  while (!failure && at != fs::recursive_directory_iterator()) {
    if (at->is_regular_file(failure) && !failure) files.push_back(at->path());
    at.increment(failure);
  }
  if (failure) throw_io_error("list", folder.string(), failure.value());
  std::sort(files.begin(), files.end());
  return files;
}

void list_folder(const fs::path& folder, SourceList& list) {
  const std::size_t before = list.files.size();
  for (const auto& path : files_below(folder)) {
    if (const auto kind = source_kind(path)) {
      list.files.push_back(source_file(path, *kind));
    } else {
      ++list.passed_over;
    }
  }
  if (list.files.size() == before) {
    throw_input_error({folder.string(), fmt::format("a folder with files named {}", kReadable), "none"});
  }
}

void list_file(const fs::path& path, SourceList& list) {
  if (!path_exists(path)) throw_cannot_open(path.string(), ENOENT);
  const auto kind = source_kind(path);
  if (!kind) throw_input_error({path.string(), fmt::format("a file named {}", kReadable), "another name"});
  if (!fs::is_regular_file(path)) throw_input_error({path.string(), "a plain file", "a device or a pipe"});
  list.files.push_back(source_file(path, *kind));
}

void refuse_repeats(const SourceList& list) {
  std::set<fs::path> seen;
  for (const auto& file : list.files) {
    std::error_code failure;
    const auto real = fs::canonical(file.name, failure);
    if (failure) throw_io_error("inspect", file.name, failure.value());
    if (!seen.insert(real).second) throw_usage_error({file.name, "every document once", "the file twice"});
  }
}

}  // namespace

std::optional<SourceKind> source_kind(const fs::path& path) {
  auto extension = lower_extension(path);
  if (extension == ".gz") extension = lower_extension(path.stem());
  if (extension == ".txt") return SourceKind::kText;
  if (extension == ".md") return SourceKind::kMarkdown;
  if (extension == ".jsonl") return SourceKind::kJsonLines;
  return std::nullopt;
}

SourceList list_sources(const std::vector<fs::path>& given) {
  SourceList list;
  for (const auto& path : given) {
    if (is_folder(path)) {
      list_folder(path, list);
    } else {
      list_file(path, list);
    }
  }
  refuse_repeats(list);
  return list;
}

std::uint64_t expected_text_bytes(const SourceFile& file) {
  constexpr std::uint64_t kSmallestGzip = 18;
  if (file.bytes < kSmallestGzip) return file.bytes;
  std::ifstream stream(file.name, std::ios::binary);
  std::array<unsigned char, 4> ends{};
  stream.read(reinterpret_cast<char*>(ends.data()), 2);
  if (!stream || ends[0] != 0x1F || ends[1] != 0x8B) return file.bytes;
  stream.seekg(-4, std::ios::end);
  stream.read(reinterpret_cast<char*>(ends.data()), 4);
  if (!stream) return file.bytes;
  std::uint64_t bytes = ends[0] | ends[1] << 8 | ends[2] << 16 | std::uint64_t{ends[3]} << 24;
  while (bytes < file.bytes) bytes += std::uint64_t{1} << 32;  // gzip keeps the size modulo 4 GiB
  return bytes;
}

}  // namespace buoy::retrieve
