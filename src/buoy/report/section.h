#pragma once

#include <span>
#include <string>
#include <vector>

#include "buoy/figure/chart/figure.h"
#include "buoy/result/table.h"

namespace buoy::report {

struct NamedFigure {
  std::string name;     // of its files; may hold any label
  std::string caption;  // what is drawn, and what would be seen if nothing were there
  figure::Figure figure;
};

// One analysis on the page.
struct Section {
  std::string name, title;
  std::string question;               // what it asks
  std::vector<std::string> readings;  // sentences that the numbers force, one or two per trace
  std::vector<NamedFigure> figures;
  std::vector<std::string> left_out = {};  // what is not there and why, a sentence each
};

// What the tables of one analysis show. Tables carry a first column "trace".
Section build_section(const std::string& analysis, std::span<const Table> tables);

}  // namespace buoy::report
