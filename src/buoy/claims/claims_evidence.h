#pragma once

#include <limits>
#include <span>
#include <string>
#include <vector>

#include "buoy/claims/claims.h"
#include "buoy/result/table_view.h"
#include "buoy/stats/estimate.h"

namespace buoy::claims {

using stats::Estimate;

// The columns of a number, and of the ends of its interval.
struct EstimateColumns {
  EstimateColumns(const Interval& interval)  // an interval is such columns
      : value(&interval), lower(&interval.lower), upper(&interval.upper) {}
  // Of a number without an interval: it is its own ends.
  explicit EstimateColumns(const ColumnSchema& number) : value(&number), lower(&number), upper(&number) {}

  const ColumnSchema *value, *lower, *upper;
};

// Which rows of which table.
struct Lookup {
  const TableSchema& table;
  std::vector<TableView::Condition> rows;
  EstimateColumns columns;
  const ColumnSchema* samples = nullptr;  // where the table counts them
  const ColumnSchema* layer = nullptr;    // where the rows are those of layers
};

struct Reading {
  std::vector<Estimate> rows;
  std::vector<double> layers;  // when the lookup names their column
  std::string lacking;         // what is not there; then there are no rows
  // The same number of untrained networks: those that a study has beside the trace; NaN: it has none.
  double control = std::numeric_limits<double>::quiet_NaN();
};

// All rows that fit. A missing table, column or row is said, not thrown. Samples are those of the row where
// the table counts them, and never more than the trace has.
Reading read(std::span<const Table> tables, const TraceKind& trace, const Lookup& lookup);

// The number and its interval in the first row.
Estimate estimate_in(const TableView& rows, const Interval& columns);

struct Expectation {
  Expectation(const QuantityRule& of, std::string called, const std::string& detail = "")
      : name(std::move(called)), rule(of), quantity(quantity_name(of, detail)) {}
  explicit Expectation(const QuantityRule& of) : Expectation(of, std::string(of.what)) {}

  std::string name;
  QuantityRule rule;
  std::string quantity;  // what its number is called, of every network
};

// One part of a claim: what was found, in words.
struct Part {
  Finding finding = Finding::kLacking;
  std::string words;
  std::string lacking;
  std::vector<Measured> measured = {};  // what `words` say, for sentences
  std::vector<Number> numbers = {};     // that it rests on
};

// Before it is asked whether there are enough samples. Where a control is known, an effect must lie beyond
// the margin around it as well: what an untrained network shows too is nothing that was learnt.
Finding side_of_null(const Estimate& estimate, const QuantityRule& rule,
                     double control = std::numeric_limits<double>::quiet_NaN());
// "as claimed, but not beyond what an untrained network shows (0.03)": why a control leaves a finding open;
// "" where it does not.
std::string held_back(const Estimate& estimate, const QuantityRule& rule, double control);
// With the interval widened from 1 - kAlpha to 1 - alpha.
Part judge(const Reading& reading, const Expectation& expected, double alpha = kAlpha);

// Whether layers disagree: more than one in kSplitLayers on each side.
bool split(std::size_t in_favour, std::size_t against, std::size_t layers);

// Over layers: found when more than half of them are on the expected side and none on the other. All layers
// together err with a chance of alpha (Holm).
Part judge_layers(std::span<const Estimate> layers, const Expectation& expected, double alpha = kAlpha);

// The rows of the last third of depth, cut at 2L/3 rounded down.
std::vector<Estimate> deep_third(const Reading& by_layer);

// Parts that disagree are mixed, whatever is lacking; otherwise every part must be there, and decided.
Verdict combine(std::span<const Part> parts);
// "as claimed", "the other way": what an interval says by itself.
std::string remark(const Estimate& estimate, const QuantityRule& rule, Finding finding);
std::string counted_parts(std::span<const Part> parts);  // "1 for, 2 against, 1 open"
TraceVerdict judge_trace(const std::string& trace, std::span<const Part> parts);
TraceVerdict judge_trace(const TraceKind& trace, std::span<const Part> parts);

// Traces that could not be tested do not vote while others could; one that decides nothing leaves the whole
// undecided unless others disagree.
Verdict combine(std::span<const TraceVerdict> traces);
void conclude(ClaimVerdict& claim, Verdict verdict);  // and gathers evidence and needs from claim.by_trace

std::string words_of(const Estimate& estimate);  // "0.31 [0.2, 0.42]"
std::string too_few(std::int64_t samples);
std::string join(std::span<const std::string> texts, const std::string& separator);

}  // namespace buoy::claims
