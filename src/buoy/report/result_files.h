#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "buoy/report/drawn_section.h"
#include "buoy/result/table.h"

namespace buoy::report {

struct Written {
  size_t tables = 0, figures = 0;
  std::vector<std::string> left_out;  // figures and parts of them that could not be drawn, and why
};

// Each writes below a folder, which gets the subfolder it needs: tables/NAME.csv and .json; figures/NAME.svg,
// .pdf and .png (none without Cairo). They return how many tables or figures that were. What they write they
// list in the folder's file .buoy-results.
size_t write_tables(std::span<const Table> tables, const std::filesystem::path& folder);
// Instead of the tables that an earlier call of this owner wrote there.
size_t replace_tables(const std::string& owner, std::span<const Table> tables,
                      const std::filesystem::path& folder);
size_t write_figures(const DrawnSection& section, const std::filesystem::path& folder);

// Both, for one analysis, instead of what an earlier call for the same analysis wrote there.
Written write_results(const AnalysedTables& analysis, const std::filesystem::path& folder);

// The same for several analyses, side by side; one result of each.
std::vector<Written> write_results(std::span<const AnalysedTables> analyses,
                                   const std::filesystem::path& folder);

// Removes the tables and figures that the folder's list names, and the list. Other files stay.
void remove_results(const std::filesystem::path& folder);

}  // namespace buoy::report
