#include "buoy/report/result_files.h"

#include "buoy/base/file/files.h"
#include "buoy/base/side_by_side.h"
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
  run_side_by_side(2 * tables.size(), [&](size_t number) {
    const Table& table = tables[number / 2];
    const bool csv = number % 2 == 0;
    write_file_atomically(folder / "tables" / (table.name + (csv ? ".csv" : ".json")),
                          csv ? to_csv(table) : to_json(table));
  });
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

size_t replace_tables(const std::string& owner, std::span<const Table> tables,
                      const std::filesystem::path& folder) {
  ResultList(folder).remove(owner);
  return write_tables_of(owner, tables, folder);
}

size_t write_figures(const DrawnSection& section, const std::filesystem::path& folder) {
  return write_figures_of(kOfReport, section, folder);
}

std::vector<Written> write_results(std::span<const AnalysedTables> analyses,
                                   const std::filesystem::path& folder) {
  std::vector<Written> out;
  std::vector<ModelColors> colors(analyses.size());
  std::vector<const ModelColors*> each;
  for (size_t a = 0; a < analyses.size(); ++a) {
    colors[a].add_names(analyses[a].tables);
    each.push_back(&colors[a]);
  }
  FileNames names;
  const auto sections = draw_sections(analyses, each, names);
  for (size_t a = 0; a < analyses.size(); ++a) {
    ResultList(folder).remove(analyses[a].name);
    out.push_back({write_tables_of(analyses[a].name, analyses[a].tables, folder),
                   write_figures_of(analyses[a].name, sections[a], folder), sections[a].omissions()});
  }
  return out;
}

Written write_results(const AnalysedTables& analysis, const std::filesystem::path& folder) {
  return write_results({&analysis, 1}, folder).front();
}

void remove_results(const std::filesystem::path& folder) {
  ResultList(folder).remove_all();
}

}  // namespace buoy::report
