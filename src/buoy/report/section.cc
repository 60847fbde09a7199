#include "buoy/report/section.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "buoy/base/error.h"
#include "buoy/report/sections.h"
#include "buoy/result/schema/absorption.h"
#include "buoy/result/schema/drift.h"
#include "buoy/result/schema/evaluation.h"
#include "buoy/result/schema/floating.h"
#include "buoy/result/schema/flow.h"
#include "buoy/result/schema/heads.h"
#include "buoy/result/schema/kvdrift.h"
#include "buoy/result/schema/predictions.h"
#include "buoy/result/schema/published.h"
#include "buoy/result/schema/qk.h"
#include "buoy/result/schema/retrieval.h"
#include "buoy/result/schema/rollout.h"
#include "buoy/result/schema/routing.h"
#include "buoy/result/schema/sinks.h"
#include "buoy/result/schema/steps.h"
#include "buoy/result/schema/structure.h"
#include "buoy/result/schema/tasks.h"

namespace buoy::report {

// Each in the file of its section.
Section floating_section(std::span<const Table> tables);
Section drift_section(std::span<const Table> tables);
Section absorption_section(std::span<const Table> tables);
Section qk_section(std::span<const Table> tables);
Section retrieval_section(std::span<const Table> tables);
Section flow_section(std::span<const Table> tables);
Section structure_section(std::span<const Table> tables);
Section sinks_section(std::span<const Table> tables);
Section heads_section(std::span<const Table> tables);
Section steps_section(std::span<const Table> tables);
Section kvdrift_section(std::span<const Table> tables);
Section rollout_section(std::span<const Table> tables);
Section predictions_section(std::span<const Table> tables);
Section routing_section(std::span<const Table> tables);
Section tasks_section(std::span<const Table> tables);
Section evaluation_section(std::span<const Table> tables);
Section published_section(std::span<const Table> tables);

Section build_section(const std::string& analysis, std::span<const Table> tables) {
  struct Builder {
    const Producer& producer;
    Section (*build)(std::span<const Table> tables);
  };
  constexpr Builder kBuilders[] = {
      {schema::kFloating, floating_section},
      {schema::kDrift, drift_section},
      {schema::kAbsorption, absorption_section},
      {schema::kQk, qk_section},
      {schema::kRetrieval, retrieval_section},
      {schema::kFlow, flow_section},
      {schema::kStructure, structure_section},
      {schema::kTasks, tasks_section},
      {schema::kPredictions, predictions_section},
      {schema::kRouting, routing_section},
      {schema::kSinks, sinks_section},
      {schema::kHeads, heads_section},
      {schema::kSteps, steps_section},
      {schema::kKvDrift, kvdrift_section},
      {schema::kRollout, rollout_section},
      {schema::kEvaluation, evaluation_section},
      {schema::kPublished, published_section},
  };
  for (const auto& builder : kBuilders) {
    if (analysis == builder.producer.name) return builder.build(tables);
  }
  throw_usage_error({"report", "a known analysis", analysis});
}

Section empty_section(const Producer& producer, const std::string& question) {
  return {std::string(producer.name), std::string(producer.title), question, {}, {}};
}

figure::Series curve(const std::string& name, const TableView& rows, const CurveColumns& columns) {
  figure::Series series{name, rows.numbers(columns.x), rows.numbers(columns.y), {}, {}};
  series.lower = rows.numbers(columns.y.lower);
  series.upper = rows.numbers(columns.y.upper);
  // Below two samples there are no intervals, and a band of nothing is none.
  if (!has_number(series.lower) || !has_number(series.upper)) series.lower = series.upper = {};
  return series;
}

figure::ReferenceCurve reference(const std::string& name, const TableView& rows, const PointColumns& columns,
                                 size_t of_series) {
  return {name, rows.numbers(columns.x), rows.numbers(columns.y), of_series};
}

std::string head_text(const TableView& rows, const ColumnSchema& head) {
  const std::string name = rows.text(head);
  return name == "mean" ? "heads averaged" : "head " + name;
}

bool has_number(const std::vector<double>& values) {
  return std::any_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

std::string with_interval(double value, double lower, double upper) {
  if (!std::isfinite(value)) return "not defined";
  if (!std::isfinite(lower) || !std::isfinite(upper)) return fmt::format("{:.3g}", value);
  return fmt::format("{:.3g} [{:.3g}, {:.3g}]", value, lower, upper);
}

std::string with_interval(const TableView& rows, const Interval& columns) {
  return with_interval(rows.number(columns), rows.number(columns.lower), rows.number(columns.upper));
}

}  // namespace buoy::report
