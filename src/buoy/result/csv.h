#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace buoy {

// A record of a CSV file, and the line it begins on.
struct CsvRecord {
  std::size_t line = 1;
  std::vector<std::string> cells;
};

// RFC 4180: quoted cells may hold commas, quotes in pairs and line ends; lines end with LF or CRLF. Empty
// lines are left out. InputError, with `name` and line, for quotes that never end or stand inside a plain
// cell, and for records of another length than the first.
std::vector<CsvRecord> parse_csv(std::string_view text, const std::string& name);

}  // namespace buoy
