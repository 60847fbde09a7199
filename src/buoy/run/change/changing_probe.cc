#include "buoy/run/change/changing_probe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "buoy/base/error.h"

namespace buoy::run {
namespace {

// Of the row: a change of nothing is refused.
std::vector<std::int64_t> positions_of(const KeyChange& change, const ChangedRow& row) {
  std::vector<std::int64_t> out;
  const auto& names = row.regions.names;
  if (!change.positions.empty()) {
    for (const auto position : change.positions) {
      if (position < row.tokens) out.push_back(position);
    }
    if (out.empty())
      throw_usage_error({kKeysField, fmt::format("positions below {}, the tokens of this row", row.tokens),
                         '"' + change.where + '"'});
    return out;
  }
  const auto region =
      static_cast<std::size_t>(std::find(names.begin(), names.end(), change.where) - names.begin());
  for (std::size_t i = 0; i < row.regions.of_token.size(); ++i) {
    if (region < names.size() && row.regions.of_token[i] == region)
      out.push_back(static_cast<std::int64_t>(i));
  }
  if (!out.empty()) return out;
  throw_usage_error(
      {kKeysField,
       names.empty() ? "positions, as in 0,5-8 (there are no regions here)"
                     : fmt::format("positions, or a region that has tokens, of {}", fmt::join(names, ", ")),
       '"' + change.where + '"'});
}

}  // namespace

ChangingProbe::ChangingProbe(const Changes& changes, const ModelConfig& config, const ChangedRow& row,
                             probe::Probe* observer)
    : heads_(config.heads),
      scale_(static_cast<std::size_t>(config.layers * config.heads), 1.0f),
      scaled_(static_cast<std::size_t>(config.layers), false),
      bias_(static_cast<std::size_t>(config.layers)),
      observer_(observer) {
  check_changes(changes, config);
  for (const auto& [id, factor] : changes.heads) {
    scale_[static_cast<std::size_t>(id.layer * heads_ + id.head)] *= static_cast<float>(factor);
    scaled_[static_cast<std::size_t>(id.layer)] = true;
  }
  for (const auto& change : changes.keys) {
    if (change.of_single_steps) {
      const auto steps = change.steps.listed();
      if (std::none_of(steps.begin(), steps.end(), [&](std::int64_t step) { return step < row.steps; }))
        throw_usage_error({kKeysField, fmt::format("steps below {}", row.steps),
                           fmt::format("{} in \"{}/...\"", steps.front(), change.where)});
    }
    keys_.push_back({&change, positions_of(change, row), static_cast<float>(std::log(change.factor))});
  }
}

probe::LayerRequest ChangingProbe::request(const probe::Address& address, const probe::LayerExtent& extent) {
  return observer_ != nullptr ? observer_->request(address, extent) : probe::LayerRequest{};
}

void ChangingProbe::take(const probe::Address& address, probe::LayerRecord&& record) {
  if (observer_ != nullptr) observer_->take(address, std::move(record));
}

probe::Change ChangingProbe::change(const probe::Address& address, const probe::LayerExtent& extent) {
  const auto layer = static_cast<std::size_t>(address.layer);
  probe::Change out;
  if (scaled_[layer])
    out.head_scale = std::span<const float>(scale_).subspan(layer * static_cast<std::size_t>(heads_),
                                                            static_cast<std::size_t>(heads_));
  auto& bias = bias_[layer];
  bool any = false;
  for (const auto& [change, positions, log_factor] : keys_) {
    if (!change->layers.contains(address.layer) || !change->steps.contains(address.step)) continue;
    if (!any) bias.assign(static_cast<std::size_t>(extent.key_rows), 0.0f);
    any = true;
    for (const auto position : positions) {
      if (position < extent.key_rows) bias[static_cast<std::size_t>(position)] += log_factor;
    }
  }
  if (any) out.key_bias = bias;
  return out;
}

}  // namespace buoy::run
