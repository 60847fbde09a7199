#include "buoy/report/result_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <sstream>
#include <vector>

#include "buoy/base/file/files.h"
#include "buoy/base/file/placed_file.h"

namespace buoy::report {
namespace {

namespace fs = std::filesystem;

// Whatever a list says, nothing else is removed.
bool may_be_ours(const std::string& file) {
  const fs::path path(file);
  const auto parent = path.parent_path();
  return (parent == "tables" || parent == "figures") && path.has_stem() && path.filename() != "." &&
         path.filename() != "..";
}

void remove_file(const fs::path& file) {
  std::error_code error;  // gone already, or not ours to remove: it stays
  if (!fs::is_directory(fs::symlink_status(file, error))) fs::remove(file, error);
}

// What a run that was killed left of files that `is_ours`, by their paths below the folder.
void remove_partial_files(const fs::path& folder, const std::string& below,
                          const std::function<bool(const std::string&)>& is_ours) {
  std::error_code error;  // no such folder: nothing is left in it
  std::vector<fs::path> left;
  for (fs::directory_iterator at(folder / below, error), end; !error && at != end; at.increment(error)) {
    const std::string target = target_of_partial(at->path().filename().string());
    if (!target.empty() && is_ours((fs::path(below) / target).string())) left.push_back(at->path());
  }
  for (const auto& file : left) remove_file(file);
}

}  // namespace

ResultList::ResultList(fs::path folder) : folder_(std::move(folder)) {
  if (!path_exists(path())) return;
  std::istringstream lines(read_file(path()));
  for (std::string line; std::getline(lines, line);) {
    const auto space = line.find(' ');
    if (space != std::string::npos) add(line.substr(0, space), line.substr(space + 1));
  }
}

void ResultList::add(const std::string& owner, const std::string& file) {
  if (may_be_ours(file)) entries_.insert({owner, file});
}

void ResultList::save() const {
  std::string text;
  for (const auto& [owner, file] : entries_) text += fmt::format("{} {}\n", owner, file);
  write_file_atomically(path(), text);
}

void ResultList::remove(const std::string& owner) {
  std::set<Entry> kept;
  for (const auto& entry : entries_) {
    if (entry.first != owner) kept.insert(entry);
  }
  const auto is_kept = [&](const std::string& file) {
    return std::any_of(kept.begin(), kept.end(), [&](const Entry& entry) { return entry.second == file; });
  };
  for (const auto& [name, file] : entries_) {
    if (name == owner && !is_kept(file)) remove_file(folder_ / file);
  }
  const auto is_of_owner = [&](const std::string& file) { return entries_.contains({owner, file}); };
  for (const char* below : {"tables", "figures"}) remove_partial_files(folder_, below, is_of_owner);
  if (kept.size() == entries_.size()) return;
  entries_ = std::move(kept);
  save();
}

void ResultList::remove_all() {
  const auto is_listed = [&](const std::string& file) {
    return std::any_of(entries_.begin(), entries_.end(),
                       [&](const Entry& entry) { return entry.second == file; });
  };
  for (const char* below : {"tables", "figures"}) remove_partial_files(folder_, below, is_listed);
  remove_partial_files(folder_, "", [&](const std::string& file) {
    return file == path().filename() || file == "report.html";
  });
  for (const auto& entry : entries_) remove_file(folder_ / entry.second);
  entries_.clear();
  remove_file(path());
}

}  // namespace buoy::report
