#include "buoy/report/result_files.h"

#include "buoy/base/file/files.h"
#include "buoy/report/result_list.h"

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

size_t write_figures_of(const std::string& owner, const DrawnSection& section,
                        const std::filesystem::path& folder) {
  ResultList list(folder);
  std::vector<std::pair<std::string, const std::string*>> files;
  size_t drawn = 0;
  for (const auto& figure : section.figures) {
    if (figure.svg.empty()) continue;
    ++drawn;
    const std::string name = "figures/" + figure.name;
    files.emplace_back(name + ".svg", &figure.svg);
    files.emplace_back(name + ".pdf", &figure.pdf);
    files.emplace_back(name + ".png", &figure.png);
  }
  if (drawn == 0) return 0;
  make_folder(folder / "figures");
  for (const auto& [name, bytes] : files) list.add(owner, name);
  list.save();
  for (const auto& [name, bytes] : files) write_file_atomically(folder / name, *bytes);
  return drawn;
}

}  // namespace

size_t write_tables(std::span<const Table> tables, const std::filesystem::path& folder) {
  return write_tables_of(kOfReport, tables, folder);
}

size_t write_figures(const DrawnSection& section, const std::filesystem::path& folder) {
  return write_figures_of(kOfReport, section, folder);
}

Written write_results(const AnalysedTables& analysis, const std::filesystem::path& folder) {
  FileNames names;
  ModelColors colors;
  colors.add_names(analysis.tables);
  const DrawnSection section = draw_section(analysis, colors, names);
  ResultList(folder).remove(analysis.name);
  return {write_tables_of(analysis.name, analysis.tables, folder),
          write_figures_of(analysis.name, section, folder), section.omissions()};
}

void remove_results(const std::filesystem::path& folder) {
  ResultList(folder).remove_all();
}

}  // namespace buoy::report
