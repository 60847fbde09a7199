#include "report/result_files.h"

#include "base/files.h"
#include "figure/render.h"
#include "report/result_list.h"

namespace buoy::report {
namespace {

constexpr const char* kOfReport = "report";

size_t write_tables_of(const std::string& owner, std::span<const Table> tables,
                       const std::filesystem::path& folder) {
  make_folder(folder / "tables");
  ResultList list(folder);
  for (const Table& table : tables) {
    for (const char* ending : {".csv", ".json"}) list.add(owner, "tables/" + table.name + ending);
  }
  list.save();
  for (const Table& table : tables) {
    write_file_atomically(folder / "tables" / (table.name + ".csv"), to_csv(table));
    write_file_atomically(folder / "tables" / (table.name + ".json"), to_json(table));
  }
  return tables.size();
}

size_t write_figures_of(const std::string& owner, const Section& section,
                        const std::filesystem::path& folder) {
  if (!figure::can_render()) return 0;
  make_folder(folder / "figures");
  ResultList list(folder);
  for (const auto& named : section.figures) {
    for (const char* ending : {".svg", ".pdf", ".png"}) list.add(owner, "figures/" + named.name + ending);
  }
  list.save();
  for (const auto& named : section.figures) {
    figure::write_figure(named.figure, folder / "figures" / named.name,
                         {figure::Format::kSvg, figure::Format::kPdf, figure::Format::kPng});
  }
  return section.figures.size();
}

}  // namespace

size_t write_tables(std::span<const Table> tables, const std::filesystem::path& folder) {
  return write_tables_of(kOfReport, tables, folder);
}

size_t write_figures(const Section& section, const std::filesystem::path& folder) {
  return write_figures_of(kOfReport, section, folder);
}

Written write_results(const std::string& analysis, const std::vector<Table>& tables,
                      const std::filesystem::path& folder) {
  const Section section = build_section(analysis, tables);
  ResultList(folder).remove(analysis);
  return {write_tables_of(analysis, tables, folder), write_figures_of(analysis, section, folder)};
}

void remove_results(const std::filesystem::path& folder) {
  ResultList(folder).remove_all();
}

}  // namespace buoy::report
