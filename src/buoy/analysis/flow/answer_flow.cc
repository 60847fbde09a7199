#include "buoy/analysis/flow/answer_flow.h"

#include <array>

#include "buoy/analysis/core/interval_cells.h"
#include "buoy/stats/not_a_number.h"

namespace buoy::analysis {
namespace {

struct Queries {
  const char *name, *steps;
};
// The last step comes nearest to the published forward over the finished row.
constexpr std::array kQueries = {Queries{"answer", "mean"}, Queries{kRevealedGroup, "mean"},
                                 Queries{kMaskedGroup, "mean"}, Queries{"answer", "last"}};
constexpr std::int64_t kQueryKinds = kQueries.size();

constexpr std::array kRegions = {"bos",  "template",    "query", "all documents",
                                 "gold", "distractors", "answer"};
constexpr std::int64_t kRegionKinds = kRegions.size();

std::vector<std::int64_t> regions_of_kind(const SampleRegions& regions, std::int64_t kind) {
  switch (kind) {
    case 3:
      return regions.documents;
    case 4:
      return regions.gold;
    case 5:
      return regions.distractors;
    default:
      const auto region = regions.find(kRegions[static_cast<size_t>(kind)]);
      return region < 0 ? std::vector<std::int64_t>{} : std::vector<std::int64_t>{region};
  }
}

enum HeadQuantity { kDocuments, kDocumentsLift, kGold, kGoldLift, kDistractorLift, kExcess, kHeadQuantities };

}  // namespace

double sum_of(std::span<const double> values, const std::vector<std::int64_t>& regions) {
  if (regions.empty()) return stats::kNan;
  double sum = 0;
  for (const auto region : regions) sum += values[static_cast<size_t>(region)];
  return sum;
}

AnswerFlowSums::AnswerFlowSums(std::int64_t layers, std::int64_t heads,
                               const stats::BootstrapOptions& options)
    : layers_(layers),
      heads_(heads),
      mass_(kQueryKinds * layers * kRegionKinds, options),
      uniform_(kQueryKinds * kRegionKinds, options),
      head_(layers * heads * kHeadQuantities) {}

void AnswerFlowSums::add(const ObservedSample& sample, const SampleFlow& flow) {
  std::vector<double> mass(static_cast<size_t>(mass_.cells()), stats::kNan);
  std::vector<double> uniform(static_cast<size_t>(uniform_.cells()), stats::kNan);
  const std::int64_t R = flow.regions.count();
  for (std::int64_t kind = 0; kind < kRegionKinds; ++kind) {
    const auto regions = regions_of_kind(flow.regions, kind);
    if (regions.empty()) continue;
    for (size_t l = 0; l < flow.mean.size(); ++l) {
      const std::array values = {&flow.mean[l].all, &flow.mean[l].revealed, &flow.mean[l].masked,
                                 &flow.last[l].all};
      for (std::int64_t q = 0; q < kQueryKinds; ++q) {
        const double share = sum_of(*values[static_cast<size_t>(q)], regions);
        mass[static_cast<size_t>((q * layers_ + sample.layers[l]) * kRegionKinds + kind)] = share;
        if (share == share)
          uniform[static_cast<size_t>(q * kRegionKinds + kind)] = sum_of(flow.uniform, regions);
      }
    }
  }
  mass_.add(sample.id(), mass);
  uniform_.add(sample.id(), uniform);
  const auto& documents = flow.regions.documents;
  const auto& gold = flow.regions.gold;
  const auto& others = flow.regions.distractors;
  for (size_t l = 0; l < flow.mean.size(); ++l) {
    for (std::int64_t h = 0; h < heads_; ++h) {
      const auto row =
          std::span(flow.mean[l].by_head).subspan(static_cast<size_t>(h * R), static_cast<size_t>(R));
      const auto lift = [&](const auto& some) { return sum_of(row, some) / sum_of(flow.uniform, some); };
      const std::int64_t cell = (sample.layers[l] * heads_ + h) * kHeadQuantities;
      head_.add(cell + kDocuments, sum_of(row, documents));
      head_.add(cell + kDocumentsLift, lift(documents));
      head_.add(cell + kGold, sum_of(row, gold));
      head_.add(cell + kGoldLift, lift(gold));
      head_.add(cell + kDistractorLift, lift(others));
      head_.add(cell + kExcess, lift(gold) - lift(others));
    }
  }
}

Table AnswerFlowSums::by_layer() const {
  Table table{"flow_by_layer",
              "Calibrated: one-layer attention from the answer to each kind of region, beside even attention",
              {{"queries", "which queries of the answer: all, those already revealed, those still masked"},
               {"steps", "mean over the steps, or the last step alone"},
               {"layer", "layer, from 0"},
               {"region", "kind of region that receives"},
               {"samples", "samples that have such queries and regions"}},
              {}};
  add_interval_columns(table.columns, "mass",
                       "share of the queries' attention, head mean, mean over samples");
  table.columns.push_back({"uniform", "the same if every query spread evenly over the keys it sees"});
  add_interval_columns(table.columns, "lift", "mass over uniform: length-normalised; 1 is even attention");
  for (std::int64_t q = 0; q < kQueryKinds; ++q) {
    for (std::int64_t l = 0; l < layers_; ++l) {
      for (std::int64_t kind = 0; kind < kRegionKinds; ++kind) {
        const std::int64_t cell = (q * layers_ + l) * kRegionKinds + kind, null = q * kRegionKinds + kind;
        const stats::Estimate mass = mass_.interval(cell);
        if (mass.samples == 0) continue;
        const auto& queries = kQueries[static_cast<size_t>(q)];
        std::vector<Cell> row = {queries.name, queries.steps, l, kRegions[static_cast<size_t>(kind)],
                                 mass.samples};
        add_interval_cells(row, mass);
        row.push_back(number_cell(uniform_.interval(null).value));
        add_interval_cells(row, mass_.ratio(cell, uniform_, null));
        table.add(std::move(row));
      }
    }
  }
  return table;
}

Table AnswerFlowSums::by_head() const {
  Table table{
      "flow_by_head",
      "Calibrated: one-layer attention from the answer to documents, per head, mean over steps",
      {{"layer", "layer, from 0"},
       {"head", "query head, from 0"},
       {"samples", "samples with documents"},
       {"documents_mass", "share of the answer's attention on all documents"},
       {"documents_mass_error", "its standard error over samples"},
       {"documents_lift", "that over what even attention gives; 1 is even"},
       {"gold_samples", "samples with a gold document"},
       {"gold_mass", "share of the answer's attention on gold documents"},
       {"gold_mass_error", "its standard error over samples"},
       {"gold_lift", "gold mass over what even attention gives, mean over samples"},
       {"gold_lift_error", "its standard error over samples"},
       {"distractor_lift", "the same for the other documents"},
       {"gold_excess", "gold lift minus distractor lift, mean over samples; 0 if gold is like the others"},
       {"gold_excess_error", "its standard error over samples"}},
      {}};
  for (std::int64_t cell = 0; cell < layers_ * heads_; ++cell) {
    const std::int64_t at = cell * kHeadQuantities;
    if (head_.count(at + kDocuments) == 0) continue;
    table.add({cell / heads_, cell % heads_, head_.count(at + kDocuments),
               number_cell(head_.mean(at + kDocuments)), number_cell(head_.error(at + kDocuments)),
               number_cell(head_.mean(at + kDocumentsLift)), head_.count(at + kGold),
               number_cell(head_.mean(at + kGold)), number_cell(head_.error(at + kGold)),
               number_cell(head_.mean(at + kGoldLift)), number_cell(head_.error(at + kGoldLift)),
               number_cell(head_.mean(at + kDistractorLift)), number_cell(head_.mean(at + kExcess)),
               number_cell(head_.error(at + kExcess))});
  }
  return table;
}

}  // namespace buoy::analysis
