#pragma once

#include <span>
#include <string>
#include <vector>

#include "buoy/report/controls.h"
#include "buoy/report/file_names.h"
#include "buoy/report/model_colors.h"
#include "buoy/report/section.h"
#include "buoy/result/table.h"

namespace buoy::report {

// A figure as it goes to the disk and onto the page.
struct DrawnFigure {
  std::string name;  // of its files
  std::string caption;
  std::string told;  // all that its texts say, for who cannot see it
  bool narrow = false;
  std::string svg, dark_svg, pdf, png;  // empty where it is left out or cannot be drawn in this build
  std::vector<std::string> left_out;    // why it is not here, or what of it is not
};

// One analysis on the page, with all that could be drawn of it.
struct DrawnSection {
  std::string name, title, question;
  std::vector<std::string> readings;
  std::vector<DrawnFigure> figures;
  std::vector<std::string> missing;  // what the section itself says is not there
  std::string left_out;              // why there are no readings and no figures; empty: there are

  // All that is not there, a sentence each.
  std::vector<std::string> omissions() const;
};

// What is drawn of one analysis. Never throws for what the tables hold: a section or a figure that cannot be
// made is left out with the reason.
struct AnalysedTables {
  std::string name, title;  // of the analysis: "drift", "Temporal drift"
  std::vector<Table> tables;
};
// All figures of all analyses at once, side by side; `colors` are those of each analysis.
std::vector<DrawnSection> draw_sections(std::span<const AnalysedTables> analyses,
                                        std::span<const ModelColors* const> colors, FileNames& names,
                                        std::span<const Control> controls = {});
DrawnSection draw_section(const AnalysedTables& analysis, const ModelColors& colors, FileNames& names);
// One that is there already, in its own colours.
DrawnSection draw_section(const Section& section, FileNames& names);

}  // namespace buoy::report
