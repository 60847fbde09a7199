#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "buoy/study/study.h"

namespace buoy::study {

// What a call says differently from the file of a study.
struct Overrides {
  std::vector<std::string> models;   // "NAME=FOLDER", or an id: another one in the place of a model
  std::optional<std::size_t> limit;  // of the questions of every part
};

// UsageError for a name that no model has, one that stands for several, and one twice. Folders are relative
// to where the program runs, as all paths of a call are.
void apply(const Overrides& overrides, Study& study);

}  // namespace buoy::study
