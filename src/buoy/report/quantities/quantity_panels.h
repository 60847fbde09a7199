#pragma once

#include <span>
#include <string>
#include <vector>

#include "buoy/report/finding.h"
#include "buoy/report/sections.h"
#include "buoy/result/schema/quantities.h"

namespace buoy::report {

// A panel of one quantity; the null is called so in the legend, "": it is not drawn.
struct QuantityPanel {
  const char *title, *quantity, *axis, *null;
};

// One panel for each quantity that some trace has a number of.
struct QuantityFigure {
  std::string name, caption, title;
};
void add_layers(std::span<const Table> tables, const schema::QuantityByLayer& t,
                std::span<const QuantityPanel> panels, const QuantityFigure& figure, Section& section);
void add_steps(std::span<const Table> tables, const schema::QuantityByStep& t,
               std::span<const QuantityPanel> panels, const QuantityFigure& figure, Section& section);

// In how many layers the excess of a quantity lies above its null, of each trace: for titles.
std::vector<PartCount> layers_above(std::span<const Table> tables, const schema::QuantityByLayer& t,
                                    const std::string& quantity);
// "3 of 8 layers", above the null or below it; "not defined" where there is no number.
std::string layers_said(const TableView& all, const schema::QuantityByLayer& t, const std::string& trace,
                        const std::string& quantity, bool above);
// Mean of the numbers of all layers, "0.31 (null 0.02)"; "not defined".
std::string mean_said(const TableView& all, const schema::QuantityByLayer& t, const std::string& trace,
                      const std::string& quantity);

}  // namespace buoy::report
