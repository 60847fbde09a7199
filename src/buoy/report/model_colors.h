#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>

#include "buoy/report/section.h"
#include "buoy/result/table.h"

namespace buoy::report {

// One colour for a model over all figures of a page. What is no model never has a model's colour; nor has a
// second trace of the same model in one chart, which could not be told from the first.
class ModelColors {
 public:
  // A trace is drawn in the colour of its model, under either name.
  void add_trace(const std::string& label, const std::string& model);
  // The traces or models that tables tell apart and that have no colour yet.
  void add_names(std::span<const Table> tables);

  void paint(Section& section) const;

 private:
  void add(const std::string& name);

  std::map<std::string, std::size_t> colors_;
  std::size_t models_ = 0;
};

}  // namespace buoy::report
