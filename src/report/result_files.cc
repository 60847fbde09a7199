#include "report/result_files.h"

#include "base/files.h"
#include "figure/render.h"
#include "report/section.h"

namespace buoy::report {

Written write_results(const std::string& analysis, const std::vector<Table>& tables,
                      const std::filesystem::path& folder) {
  Written written;
  std::filesystem::create_directories(folder / "tables");
  for (const Table& table : tables) {
    write_file_atomically(folder / "tables" / (table.name + ".csv"), to_csv(table));
    write_file_atomically(folder / "tables" / (table.name + ".json"), to_json(table));
    ++written.tables;
  }
  if (!figure::can_render()) return written;
  std::filesystem::create_directories(folder / "figures");
  for (const auto& named : build_section(analysis, tables).figures) {
    figure::write_figure(named.figure, folder / "figures" / named.name,
                         {figure::Format::kSvg, figure::Format::kPdf, figure::Format::kPng});
    ++written.figures;
  }
  return written;
}

}  // namespace buoy::report
