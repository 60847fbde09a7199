#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/table.h"

namespace buoy::report {

struct Written {
  size_t tables = 0, figures = 0;
};

// Writes one analysis below a folder: tables/NAME.csv and .json, figures/NAME.svg, .pdf and .png. Without
// Cairo there are no figures.
Written write_results(const std::string& analysis, const std::vector<Table>& tables,
                      const std::filesystem::path& folder);

}  // namespace buoy::report
