#include "buoy/analysis/core/quantities.h"

#include <cmath>

#include "buoy/stats/not_a_number.h"

namespace buoy::analysis {
namespace {

constexpr std::int64_t kPlaces = kStepBins + 1;  // the last one: the run as a whole

}  // namespace

void QuantityMeans::Sum::add(const WithNull& measured) {
  if (std::isnan(measured.value)) return;
  value += measured.value;
  count += 1;
  if (std::isnan(measured.null)) return;
  null += measured.null;
  nulls += 1;
}

void QuantityMeans::Sum::add(const Sum& other) {
  value += other.value;
  null += other.null;
  count += other.count;
  nulls += other.nulls;
}

WithNull QuantityMeans::Sum::mean() const {
  return {count > 0 ? value / count : stats::kNan, nulls > 0 ? null / nulls : stats::kNan};
}

void QuantityMeans::Means::add(const WithNull& mean) {
  values.push_back(static_cast<float>(mean.value));
  nulls.push_back(static_cast<float>(mean.null));
}

WithNull QuantityMeans::Means::at(std::int64_t cell) const {
  return {values[static_cast<size_t>(cell)], nulls[static_cast<size_t>(cell)]};
}

QuantityMeans::QuantityMeans(const Extent& extent)
    : extent_(extent),
      steps_(static_cast<size_t>(extent.layers * kPlaces * extent.quantities)),
      heads_(static_cast<size_t>(extent.layers * extent.heads * extent.quantities)) {
  const WithNull none{stats::kNan, stats::kNan};  // of their size already: states are read into them
  for (std::int64_t i = 0; i < extent.layers * extent.quantities; ++i) by_layer_.add(none);
  for (std::int64_t i = 0; i < kStepBins * extent.quantities; ++i) by_bin_.add(none);
  for (size_t i = 0; i < heads_.size(); ++i) by_head_.add(none);
}

QuantityMeans::Sum& QuantityMeans::of_step(std::int64_t l, std::int64_t bin, std::int64_t quantity) {
  return steps_[static_cast<size_t>((l * kPlaces + bin) * extent_.quantities + quantity)];
}

void QuantityMeans::add_head(const LayerView& layer, std::int64_t head, std::int64_t quantity,
                             const WithNull& measured) {
  add_layer(layer, quantity, measured);
  heads_[static_cast<size_t>((layer.l * extent_.heads + head) * extent_.quantities + quantity)].add(measured);
}

void QuantityMeans::add_layer(const LayerView& layer, std::int64_t quantity, const WithNull& measured) {
  of_step(layer.l, step_bin(layer.sample, layer.s()), quantity).add(measured);
}

void QuantityMeans::add_run(std::int64_t l, std::int64_t head, std::int64_t quantity,
                            const WithNull& measured) {
  add_whole(l, quantity, measured);
  heads_[static_cast<size_t>((l * extent_.heads + head) * extent_.quantities + quantity)].add(measured);
}

void QuantityMeans::add_whole(std::int64_t l, std::int64_t quantity, const WithNull& measured) {
  of_step(l, kStepBins, quantity).add(measured);
}

void QuantityMeans::finish() {
  by_layer_ = by_bin_ = by_head_ = {};
  for (std::int64_t l = 0; l < extent_.layers; ++l) {
    for (std::int64_t q = 0; q < extent_.quantities; ++q) {
      Sum all;
      for (std::int64_t place = 0; place < kPlaces; ++place) all.add(of_step(l, place, q));
      by_layer_.add(all.mean());
    }
  }
  for (std::int64_t bin = 0; bin < kStepBins; ++bin) {
    for (std::int64_t q = 0; q < extent_.quantities; ++q) {
      Sum layers;
      for (std::int64_t l = 0; l < extent_.layers; ++l) layers.add(of_step(l, bin, q).mean());
      by_bin_.add(layers.mean());
    }
  }
  for (const Sum& head : heads_) by_head_.add(head.mean());
  steps_ = heads_ = {};
}

void QuantityMeans::state(StateArchive& archive) {
  for (Means* means : {&by_layer_, &by_bin_, &by_head_}) {
    archive.numbers(means->values);
    archive.numbers(means->nulls);
  }
}

WithNull QuantityMeans::of_layer(std::int64_t l, std::int64_t quantity) const {
  return by_layer_.at(l * extent_.quantities + quantity);
}

WithNull QuantityMeans::of_bin(std::int64_t bin, std::int64_t quantity) const {
  return by_bin_.at(bin * extent_.quantities + quantity);
}

WithNull QuantityMeans::of_head(std::int64_t l, std::int64_t head, std::int64_t quantity) const {
  return by_head_.at((l * extent_.heads + head) * extent_.quantities + quantity);
}

}  // namespace buoy::analysis
