#include "report/result_files.h"

#include "base/files.h"
#include "figure/render.h"

namespace buoy::report {

size_t write_tables(std::span<const Table> tables, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder / "tables");
  for (const Table& table : tables) {
    write_file_atomically(folder / "tables" / (table.name + ".csv"), to_csv(table));
    write_file_atomically(folder / "tables" / (table.name + ".json"), to_json(table));
  }
  return tables.size();
}

size_t write_figures(const Section& section, const std::filesystem::path& folder) {
  if (!figure::can_render()) return 0;
  std::filesystem::create_directories(folder / "figures");
  for (const auto& named : section.figures) {
    figure::write_figure(named.figure, folder / "figures" / named.name,
                         {figure::Format::kSvg, figure::Format::kPdf, figure::Format::kPng});
  }
  return section.figures.size();
}

Written write_results(const std::string& analysis, const std::vector<Table>& tables,
                      const std::filesystem::path& folder) {
  return {write_tables(tables, folder), write_figures(build_section(analysis, tables), folder)};
}

}  // namespace buoy::report
