#include <fmt/format.h>

#include <cmath>

#include "buoy/report/finding.h"
#include "buoy/report/sections.h"
#include "buoy/result/schema/predictions.h"

namespace buoy::report {
namespace {

constexpr const char* kCalibrated = "confidence that is right";

// A scalar of every trace that has it, for a title.
std::vector<Measured> scalar_of_traces(std::span<const Table> tables, const char* scalar) {
  const auto& t = schema::predictions_summary;
  const auto all = find_table(tables, t).where({{t.scalar, scalar}});
  std::vector<Measured> numbers;
  for (const auto& trace : all.distinct(schema::trace)) {
    const auto row = all.where({{schema::trace, trace}});
    if (has_number(row.numbers(t.value))) numbers.push_back(measured(trace, row, {t.value, t.samples}));
  }
  return numbers;
}

void add_steps(std::span<const Table> tables, Section& section) {
  const auto& t = schema::predictions_by_step;
  const auto all = find_table(tables, t);
  figure::Figure page;
  page.columns = 3;
  page.letters = true;
  struct Part {
    const char *title, *positions, *quantity, *axis;
  };
  for (const Part& part : {Part{"Confidence, not yet written", "masked", "confidence", "Probability"},
                           Part{"Confidence, written before", "revealed", "confidence", "Probability"},
                           Part{"Entropy, not yet written", "masked", "entropy", "Nats"},
                           Part{"Entropy, written before", "revealed", "entropy", "Nats"},
                           Part{"Margin, not yet written", "masked", "margin", "Probability"},
                           Part{"Margin, written before", "revealed", "margin", "Probability"}}) {
    figure::LineChart chart{"Step", part.axis, {}, {}, {}, {}, {}};
    for (const auto& trace : all.distinct(schema::trace)) {
      const auto rows =
          all.where({{schema::trace, trace}, {t.positions, part.positions}, {t.quantity, part.quantity}});
      if (has_number(rows.numbers(t.value))) chart.series.push_back(curve(trace, rows, {t.step, t.value}));
    }
    if (!chart.series.empty()) page.panels.push_back({part.title, chart});
  }
  if (page.panels.empty()) return;
  page.title = title_of({"Share of the run by which tokens are decided before they are written",
                         "What the model expects at the positions of the answer, by step"},
                        scalar_of_traces(tables, "lead"));
  page.caption = counted(all, {schema::trace, t.samples});
  section.figures.push_back(
      {"predictions_by_step",
       "Confidence, entropy and margin of the distribution over the vocabulary at the positions of the "
       "answer, padding left out; positions that were still masked when the step's forward ran and positions "
       "written before. Steps of an autoregressive model are its tokens. Bands: bootstrap intervals over "
       "samples.",
       page});
}

figure::Series without_empty_bins(const figure::Series& all) {
  figure::Series some{all.name, {}, {}, {}, {}};
  for (size_t i = 0; i < all.x.size(); ++i) {
    if (!std::isfinite(all.x[i])) continue;
    some.x.push_back(all.x[i]);
    some.y.push_back(all.y[i]);
    if (all.lower.empty()) continue;
    some.lower.push_back(all.lower[i]);
    some.upper.push_back(all.upper[i]);
  }
  return some;
}

void add_calibration(std::span<const Table> tables, Section& section) {
  const auto& t = schema::predictions_calibration;
  const auto all = find_table(tables, t);
  figure::Figure page;
  page.columns = 2;
  page.letters = true;
  struct Part {
    const char *title, *against, *axis;
  };
  for (const Part& part : {Part{"Against the final token", "final_token", "Share that came"},
                           Part{"Against right answers", "answer", "Share right"}}) {
    figure::LineChart chart{"Confidence", part.axis, {}, {}, {}, {}, {}};
    for (const auto& trace : all.distinct(schema::trace)) {
      const auto rows = all.where({{schema::trace, trace}, {t.against, part.against}});
      auto series = without_empty_bins(curve(trace, rows, {t.confidence, t.right}));
      if (has_number(series.y)) chart.series.push_back(std::move(series));
    }
    if (chart.series.empty()) continue;
    chart.references.push_back({kCalibrated, {0, 1}, {0, 1}, {}});
    page.panels.push_back({part.title, chart});
  }
  if (page.panels.empty()) return;
  page.title = title_of(
      {"Expected calibration error against the final token", "Confidence held against what came out"},
      scalar_of_traces(tables, "ece_final_token"));
  page.caption = counted(all, {schema::trace, t.samples});
  section.figures.push_back(
      {"predictions_calibration",
       "Share of events that came out as expected, in ten bins of confidence; the null is confidence that is "
       "right, the diagonal. Left: the most probable token of masked positions, at steps before their "
       "reveal, "
       "against the token that came. Right: answers by their mean confidence, against right and wrong. "
       "Bands: "
       "bootstrap intervals over samples.",
       page});
}

}  // namespace

Section predictions_section(std::span<const Table> tables) {
  Section section = empty_section(
      schema::kPredictions, "How sure is the model at each step, when is a token decided, and is it right?");
  add_steps(tables, section);
  add_calibration(tables, section);
  const auto& t = schema::predictions_summary;
  const auto summary = find_table(tables, t);
  for (const auto& trace : summary.distinct(schema::trace)) {
    const auto scalar = [&](const char* name) {
      return with_interval(summary.where({{schema::trace, trace}, {t.scalar, name}}), t.value);
    };
    section.readings.push_back(fmt::format(
        "{}: tokens of the answer are on top without a break for {} steps before they are written ({} of the "
        "run); {} of them from the first step on. Confidence at the reveal {}; expected calibration error {} "
        "against the final token, {} against right answers.",
        trace, scalar("lead_steps"), scalar("lead"), scalar("at_once"), scalar("reveal_confidence"),
        scalar("ece_final_token"), scalar("ece_answer")));
  }
  return section;
}

}  // namespace buoy::report
