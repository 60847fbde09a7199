#include "buoy/trace/journal.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string_view>
#include <utility>

#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"
#include "buoy/trace/manifest_json.h"

namespace buoy::trace {

bool is_being_written(const std::filesystem::path& journal) {
  return LockedFile::is_locked(journal);
}

Journal::Journal(std::filesystem::path path) : file_(std::move(path), "a trace") {}

void Journal::append(const SampleEntry& entry) {
  const std::uint64_t size = file_.size();
  file_.append(format_entry(entry) + "\n");
  try {
    file_.sync();
  } catch (const IoError&) {
    file_.truncate(size);  // an entry that may not be on the disk is none
    throw;
  }
}

void Journal::clear() {
  file_.truncate(0);
}

void Journal::drop_torn_line() {
  const std::string text = read_file(file_.path());
  const size_t end = text.rfind('\n');
  file_.truncate(end == std::string::npos ? 0 : end + 1);
}

void Journal::remove() {
  file_.remove();
}

std::map<std::string, SampleEntry> read_journal(const std::filesystem::path& path) {
  std::map<std::string, SampleEntry> entries;
  if (!path_exists(path)) return entries;
  const std::string text = read_file(path);
  size_t line = 1;
  for (size_t begin = 0, end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1, ++line) {
    const std::string name = fmt::format("{}: line {}", path.string(), line);
    const Json json = parse_json(std::string_view(text).substr(begin, end - begin), name);
    const SampleEntry entry = parse_entry(json, name);
    entries[entry.id] = entry;
  }
  return entries;
}

}  // namespace buoy::trace
