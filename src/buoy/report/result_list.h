#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <utility>

namespace buoy::report {

// Which files below a folder are Buoy's own: tables and figures it wrote there, by who wrote them ("report",
// "drift"). Kept in the folder's file .buoy-results, one "OWNER FILE" a line, so that the next run can remove
// what it does not write again and never touches what others put there.
class ResultList {
 public:
  explicit ResultList(std::filesystem::path folder);  // an empty list where the folder has none

  void add(const std::string& owner, const std::string& file);
  void save() const;

  // From the disk and from the list; with them what a run that was killed left of such files, unfinished.
  void remove(const std::string& owner);
  void remove_all();

 private:
  using Entry = std::pair<std::string, std::string>;  // owner, file

  std::filesystem::path path() const { return folder_ / ".buoy-results"; }

  std::filesystem::path folder_;
  std::set<Entry> entries_;
};

}  // namespace buoy::report
