#pragma once

#include <span>
#include <string>
#include <vector>

#include "buoy/report/section.h"
#include "buoy/result/table.h"

namespace buoy::report {

// A trace of a network that was never trained. It is drawn beside models and never judged as one.
struct Control {
  std::string label;
  std::string model;                // its name
  std::vector<std::string> beside;  // labels of traces of the same config: drawn in the colour of the first
};
inline constexpr const char* kUntrainedName = "untrained";  // in legends

// The rows of controls alone, or all the others, in tables that tell traces or models apart.
enum class Rows { kOfModels, kOfControls };
std::vector<Table> rows_of(Rows which, std::span<const Table> tables, std::span<const Control> controls);

// Adds the curves of a section of controls to those of the same figures and panels of models, dashed.
void add_controls(Section& section, const Section& of_controls, std::span<const Control> controls);

}  // namespace buoy::report
