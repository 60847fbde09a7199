#include "buoy/analysis/core/quantity_tables.h"

#include "buoy/analysis/core/interval_cells.h"

namespace buoy::analysis {

QuantitySummary::State::State(const QuantityMeans::Extent& extent, const stats::BootstrapOptions& options)
    : extent(extent),
      by_layer(extent.layers * extent.quantities, options),
      by_bin(kStepBins * extent.quantities, options),
      heads(extent.layers * extent.heads * extent.quantities),
      head_nulls(extent.layers * extent.heads * extent.quantities) {}

void QuantitySummary::Cells::add(std::string_view sample_id, const std::vector<WithNull>& measured) {
  std::vector<double> value, excess, null;
  for (const auto& one : measured) {
    value.push_back(one.value);
    null.push_back(one.null);
    excess.push_back(one.value - one.null);
  }
  values.add(sample_id, value);
  excesses.add(sample_id, excess);
  nulls.add(null);
}

void QuantitySummary::add(const ObservedSample& sample, const QuantityMeans& means) {
  const auto& extent = means.extent();
  if (!state_) state_.emplace(extent, options_);
  std::vector<WithNull> by_layer, by_bin;
  for (std::int64_t l = 0; l < extent.layers; ++l) {
    for (std::int64_t q = 0; q < extent.quantities; ++q) by_layer.push_back(means.of_layer(l, q));
  }
  for (std::int64_t bin = 0; bin < kStepBins; ++bin) {
    for (std::int64_t q = 0; q < extent.quantities; ++q) by_bin.push_back(means.of_bin(bin, q));
  }
  state_->by_layer.add(sample.id(), by_layer);
  state_->by_bin.add(sample.id(), by_bin);
  std::int64_t cell = 0;
  for (std::int64_t l = 0; l < extent.layers; ++l) {
    for (std::int64_t h = 0; h < extent.heads; ++h) {
      for (std::int64_t q = 0; q < extent.quantities; ++q, ++cell) {
        const WithNull one = means.of_head(l, h, q);
        state_->heads.add(cell, one.value);
        state_->head_nulls.add(cell, one.null);
      }
    }
  }
}

stats::Estimate QuantitySummary::value(const Cells& cells, std::int64_t cell, std::int64_t quantity) const {
  return clipped(cells.values.interval(cell), quantities_[static_cast<size_t>(quantity)].possible);
}

stats::Estimate QuantitySummary::excess(const Cells& cells, std::int64_t cell, std::int64_t quantity) const {
  const auto& [least, most] = quantities_[static_cast<size_t>(quantity)].possible;
  return clipped(cells.excesses.interval(cell), {least - most, most - least});
}

Table QuantitySummary::layers(const schema::QuantityByLayer& t, const LayerAxis& axis) const {
  Table table(t);
  for (std::int64_t l = 0; state_ && l < axis.size(); ++l) {
    for (std::int64_t q = 0; q < quantities(); ++q) {
      const std::int64_t cell = l * quantities() + q;
      const stats::Estimate of_cell = value(state_->by_layer, cell, q);
      if (of_cell.samples == 0) continue;
      table.add({{t.layer, axis.number(l)},
                 {t.quantity, name(q)},
                 {t.value, interval_cells(of_cell)},
                 {t.null, number_cell(state_->by_layer.nulls.mean(cell))},
                 {t.excess, interval_cells(excess(state_->by_layer, cell, q))},
                 {t.samples, of_cell.samples}});
    }
  }
  return table;
}

Table QuantitySummary::steps(const schema::QuantityByStep& t) const {
  Table table(t);
  for (std::int64_t q = 0; state_ && q < quantities(); ++q) {
    for (std::int64_t bin = 0; bin < kStepBins; ++bin) {
      const std::int64_t cell = bin * quantities() + q;
      const stats::Estimate of_cell = value(state_->by_bin, cell, q);
      if (of_cell.samples == 0) continue;
      table.add({{t.quantity, name(q)},
                 {t.step_bin, bin},
                 {t.value, interval_cells(of_cell)},
                 {t.null, number_cell(state_->by_bin.nulls.mean(cell))},
                 {t.excess, interval_cells(excess(state_->by_bin, cell, q))},
                 {t.samples, of_cell.samples}});
    }
  }
  return table;
}

Table QuantitySummary::heads(const schema::QuantityByHead& t, const LayerAxis& axis) const {
  Table table(t);
  std::int64_t cell = 0;
  for (std::int64_t l = 0; state_ && l < axis.size(); ++l) {
    for (std::int64_t h = 0; h < state_->extent.heads; ++h) {
      for (std::int64_t q = 0; q < quantities(); ++q, ++cell) {
        const std::int64_t samples = state_->heads.count(cell);
        if (samples == 0) continue;
        table.add({{t.layer, axis.number(l)},
                   {t.head, h},
                   {t.quantity, name(q)},
                   {t.value, number_cell(state_->heads.mean(cell))},
                   {t.deviation, number_cell(state_->heads.deviation(cell))},
                   {t.null, number_cell(state_->head_nulls.mean(cell))},
                   {t.samples, samples}});
      }
    }
  }
  return table;
}

}  // namespace buoy::analysis
