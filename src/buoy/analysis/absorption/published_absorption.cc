#include <algorithm>
#include <array>
#include <string>

#include "buoy/analysis/absorption/absorption_tables.h"
#include "buoy/result/schema/absorption.h"

namespace buoy::analysis {
namespace {

struct Curve {
  const char* model;
  const char* selector;
  std::vector<double> percent;
};

// Read off the published figure (docs/measurements.md 9); the authors printed no numbers.
const std::vector<Curve>& curves() {
  static const std::vector<Curve> all = {
      {"Llama", "position_0", {52.2, 79.6, 91.3, 87.1, 81.7, 78.1, 72.7, 65.3, 63.2, 63.3, 67.5,
                               59.6, 58.0, 58.2, 60.6, 62.3, 66.2, 72.3, 81.1, 84.2, 83.7, 82.1,
                               84.5, 88.7, 87.5, 88.4, 82.8, 82.9, 80.3, 82.4, 69.3, 67.0}},
      {"Qwen", "position_0", {12.0, 19.3, 28.1, 15.6, 81.4, 83.5, 70.9, 68.0, 73.2, 65.5,
                              66.0, 68.6, 64.7, 58.0, 69.8, 64.6, 67.8, 69.7, 60.0, 60.3,
                              69.0, 68.8, 81.2, 76.7, 78.0, 76.7, 81.0, 66.2}},
      {"LLaDA", "additive", {11.8, 11.1, 11.8, 9.4,  8.6,  10.2, 9.4,  11.8, 10.6, 11.7, 27.1,
                             15.0, 18.2, 21.5, 17.3, 16.5, 24.2, 19.6, 19.4, 22.2, 15.1, 21.1,
                             23.6, 22.4, 19.2, 23.1, 25.8, 32.0, 28.9, 30.9, 29.3, 10.1}},
      {"Dream", "additive", {4.4,  4.1,  9.8,  6.5,  49.4, 26.8, 29.3, 27.5, 39.1, 29.5,
                             38.1, 41.2, 42.9, 32.8, 39.8, 34.2, 35.2, 36.2, 32.6, 31.0,
                             34.8, 36.2, 48.0, 49.7, 53.2, 51.7, 55.2, 34.5}},
  };
  return all;
}

// Of the reading, in percent points; some points lie under other markers or the legend.
Cell tolerance(const std::string& model, std::int64_t layer) {
  constexpr std::array<std::int64_t, 3> kOverlapped = {0, 4, 13};
  if (model == "Qwen" && layer == 24) return {};
  if (model == "Qwen" && std::find(kOverlapped.begin(), kOverlapped.end(), layer) != kOverlapped.end())
    return 1.5;
  if ((model == "Llama" || model == "Qwen") && layer >= 23) return 1.0;
  return 0.5;
}

}  // namespace

Table published_absorption() {
  const auto& t = schema::published_absorption;
  Table table(t);
  for (const auto& curve : curves()) {
    for (size_t l = 0; l < curve.percent.size(); ++l) {
      const auto layer = static_cast<std::int64_t>(l);
      table.add({{t.model, std::string(curve.model)},
                 {t.layer, layer},
                 {t.selector, std::string(curve.selector)},
                 {t.absorbed_percent, curve.percent[l]},
                 {t.tolerance, tolerance(curve.model, layer)}});
    }
  }
  return table;
}

}  // namespace buoy::analysis
