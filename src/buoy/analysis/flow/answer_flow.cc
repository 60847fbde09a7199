#include "buoy/analysis/flow/answer_flow.h"

#include <array>

#include "buoy/analysis/core/interval_cells.h"
#include "buoy/result/schema/flow.h"
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

constexpr std::array kRegions = {"bos",  "template",    "query",  "all documents",
                                 "gold", "distractors", "answer", "padding"};
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
    if (regions.empty() || (regions[0] == flow.regions.padding && !ends_early(sample))) continue;
    for (size_t l = 0; l < flow.mean.size(); ++l) {
      const std::array values = {&flow.mean[l].all, &flow.mean[l].revealed, &flow.mean[l].masked,
                                 &flow.last[l].all};
      const std::array even = {&flow.even.all, &flow.even.revealed, &flow.even.masked, &flow.even.last};
      for (std::int64_t q = 0; q < kQueryKinds; ++q) {
        const double share = sum_of(*values[static_cast<size_t>(q)], regions);
        mass[static_cast<size_t>((q * layers_ + sample.layers[l]) * kRegionKinds + kind)] = share;
        if (share == share)
          uniform[static_cast<size_t>(q * kRegionKinds + kind)] =
              sum_of(*even[static_cast<size_t>(q)], regions);
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
      const auto lift = [&](const auto& some) { return sum_of(row, some) / sum_of(flow.even.all, some); };
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
  const auto& t = schema::flow_by_layer;
  Table table(t);
  for (std::int64_t q = 0; q < kQueryKinds; ++q) {
    for (std::int64_t l = 0; l < layers_; ++l) {
      for (std::int64_t kind = 0; kind < kRegionKinds; ++kind) {
        const std::int64_t cell = (q * layers_ + l) * kRegionKinds + kind, null = q * kRegionKinds + kind;
        const stats::Estimate mass = mass_.interval(cell);
        if (mass.samples == 0) continue;
        const auto& queries = kQueries[static_cast<size_t>(q)];
        table.add({{t.queries, queries.name},
                   {t.steps, queries.steps},
                   {t.layer, l},
                   {t.region, kRegions[static_cast<size_t>(kind)]},
                   {t.samples, mass.samples},
                   {t.mass, interval_cells(mass)},
                   {t.uniform, number_cell(uniform_.interval(null).value)},
                   {t.lift, interval_cells(mass_.ratio(cell, uniform_, null))}});
      }
    }
  }
  return table;
}

Table AnswerFlowSums::by_head() const {
  const auto& t = schema::flow_by_head;
  Table table(t);
  for (std::int64_t cell = 0; cell < layers_ * heads_; ++cell) {
    const std::int64_t at = cell * kHeadQuantities;
    if (head_.count(at + kDocuments) == 0) continue;
    table.add({{t.layer, cell / heads_},
               {t.head, cell % heads_},
               {t.samples, head_.count(at + kDocuments)},
               {t.documents_mass, number_cell(head_.mean(at + kDocuments))},
               {t.documents_mass_error, number_cell(head_.error(at + kDocuments))},
               {t.documents_lift, number_cell(head_.mean(at + kDocumentsLift))},
               {t.gold_samples, head_.count(at + kGold)},
               {t.gold_mass, number_cell(head_.mean(at + kGold))},
               {t.gold_mass_error, number_cell(head_.error(at + kGold))},
               {t.gold_lift, number_cell(head_.mean(at + kGoldLift))},
               {t.gold_lift_error, number_cell(head_.error(at + kGoldLift))},
               {t.distractor_lift, number_cell(head_.mean(at + kDistractorLift))},
               {t.gold_excess, number_cell(head_.mean(at + kExcess))},
               {t.gold_excess_error, number_cell(head_.error(at + kExcess))}});
  }
  return table;
}

}  // namespace buoy::analysis
