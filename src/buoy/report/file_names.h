#pragma once

#include <set>
#include <string>

namespace buoy::report {

// Names of files made of labels that may hold anything: letters, digits, "_" and "-" stay, and no name
// is given twice, whatever the case of its letters.
class FileNames {
 public:
  std::string add(const std::string& wanted);

 private:
  std::set<std::string> taken_;  // in lower case
};

}  // namespace buoy::report
