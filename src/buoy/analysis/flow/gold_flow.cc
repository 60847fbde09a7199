#include "buoy/analysis/flow/gold_flow.h"

#include "buoy/analysis/core/interval_cells.h"
#include "buoy/analysis/flow/answer_flow.h"
#include "buoy/result/schema/flow.h"
#include "buoy/stats/not_a_number.h"

namespace buoy::analysis {
namespace {

constexpr std::int64_t kAll = -1, kSeveral = 0;

enum LiftCell { kLiftOfGold, kLiftOfOthers, kMassOfGold, kLiftCells };
enum RolloutCell { kRolledGold, kRolledOther, kEvenGold, kEvenOther, kRolloutCells };

std::string name_of_position(std::int64_t position) {
  return position == kAll ? "all" : position == kSeveral ? "several" : std::to_string(position);
}

// Gold over mean distractor read off the published LLaDA panels (docs/measurements.md 9).
Cell published_ratio(std::int64_t position) {
  return position == 1 ? Cell(1.47) : position == 5 ? Cell(1.50) : position == 10 ? Cell(1.42) : Cell();
}

double mean_of(std::span<const double> row, const std::vector<std::int64_t>& regions) {
  return sum_of(row, regions) / static_cast<double>(regions.size());
}

}  // namespace

GoldFlowSums::Position& GoldFlowSums::at(std::int64_t position) {
  const auto found = positions_.find(position);
  if (found != positions_.end()) return found->second;
  return positions_.emplace(position, Position{stats::StreamedBootstrap(layers_ * kLiftCells, options_), {}})
      .first->second;
}

void GoldFlowSums::add(const ObservedSample& sample, const SampleFlow& flow, const SampleRollout& rollout) {
  const auto& gold = flow.regions.gold;
  const auto& others = flow.regions.distractors;
  if (gold.empty() || others.empty()) return;
  std::vector<double> lift(static_cast<size_t>(layers_ * kLiftCells), stats::kNan);
  for (size_t l = 0; l < flow.mean.size(); ++l) {
    double* to = lift.data() + sample.layers[l] * kLiftCells;
    to[kMassOfGold] = sum_of(flow.mean[l].all, gold);
    to[kLiftOfGold] = to[kMassOfGold] / sum_of(flow.even.all, gold);
    to[kLiftOfOthers] = sum_of(flow.mean[l].all, others) / sum_of(flow.even.all, others);
  }
  for (const auto position : {kAll, flow.regions.gold_position}) {
    Position& sums = at(position);
    sums.lift.add(sample.id(), lift);
    for (const auto forward : kRolloutsOf) {
      for (size_t i = 0; i < std::size(kPoolings) * rollout.depths.size(); ++i) {
        const size_t pooling = i / rollout.depths.size(), depth = i % rollout.depths.size();
        const auto cell = rollout.at(forward, pooling, depth);
        if (!cell) continue;
        const auto row = cell->flow->row(flow.regions.answer), even = cell->even->row(flow.regions.answer);
        const std::vector<double> values = {mean_of(row, gold), mean_of(row, others), mean_of(even, gold),
                                            mean_of(even, others)};
        const std::array key = {static_cast<std::int64_t>(forward), static_cast<std::int64_t>(pooling),
                                rollout.depths[depth]};
        sums.rollouts.try_emplace(key, kRolloutCells, options_).first->second.add(sample.id(), values);
      }
    }
  }
}

Table GoldFlowSums::by_layer() const {
  const auto& t = schema::flow_gold_by_layer;
  Table table(t);
  for (const auto& [position, sums] : positions_) {
    for (std::int64_t l = 0; l < layers_; ++l) {
      const std::int64_t cell = l * kLiftCells;
      const stats::Estimate gold = sums.lift.interval(cell + kLiftOfGold);
      if (gold.samples == 0) continue;
      table.add({{t.gold_position, name_of_position(position)},
                 {t.layer, l},
                 {t.samples, gold.samples},
                 {t.gold_mass, number_cell(sums.lift.interval(cell + kMassOfGold).value)},
                 {t.gold_lift, interval_cells(gold)},
                 {t.distractor_lift, interval_cells(sums.lift.interval(cell + kLiftOfOthers))},
                 {t.gold_over_distractors,
                  interval_cells(sums.lift.ratio(cell + kLiftOfGold, sums.lift, cell + kLiftOfOthers))}});
    }
  }
  return table;
}

Table GoldFlowSums::by_rollout() const {
  const auto& t = schema::flow_gold_by_rollout;
  Table table(t);
  for (const auto& [position, sums] : positions_) {
    for (const auto& [key, values] : sums.rollouts) {
      const stats::Estimate gold = values.interval(kRolledGold);
      const stats::Estimate ratio = values.ratio(kRolledGold, values, kRolledOther);
      const double even = values.ratio(kEvenGold, values, kEvenOther).value;
      const auto& [forward, pooling, depth] = key;
      const bool published = static_cast<RolloutOf>(forward) == RolloutOf::kPublished;
      table.add({{t.gold_position, name_of_position(position)},
                 {t.forward, name_of(static_cast<RolloutOf>(forward))},
                 {t.pooling, name_of(kPoolings[pooling])},
                 {t.layers, depth},
                 {t.samples, gold.samples},
                 {t.gold, number_cell(gold.value)},
                 {t.distractor, number_cell(values.interval(kRolledOther).value)},
                 {t.ratio, interval_cells(ratio)},
                 {t.uniform_ratio, number_cell(even)},
                 {t.ratio_over_uniform, number_cell(ratio.value / even)},
                 {t.paper_llada, published ? published_ratio(position) : Cell()}});
    }
  }
  return table;
}

}  // namespace buoy::analysis
