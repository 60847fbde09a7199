#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace buoy::questions {

// Ids that can name files, each once: 1 to 128 of A-Z a-z 0-9 . _ -, not beginning with a dot.
// Depends on the ids given so far and their order, on nothing else.
class ItemIds {
 public:
  // Any other character becomes '_', what is too long is cut, and an id that is taken gets "-2", "-3", ...
  // An empty id becomes the number of the item, from "000001".
  std::string assign(std::string_view wanted);

  std::size_t missing() const { return missing_; }  // ids that were empty
  std::size_t changed() const { return changed_; }  // ids that could not stay as they were

 private:
  std::set<std::string> taken_;
  std::map<std::string, std::size_t> copies_;  // of ids that were wanted more than once
  std::size_t items_ = 0, missing_ = 0, changed_ = 0;
};

}  // namespace buoy::questions
