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
      head_changes_(static_cast<std::size_t>(config.layers)),
      scale_(static_cast<std::size_t>(config.layers)),
      bias_(static_cast<std::size_t>(config.layers)),
      observer_(observer) {
  check_changes(changes, config);
  const auto require_step = [&](const char* field, const observe::NumberSet& named, const std::string& what) {
    const auto steps = named.listed();
    if (std::none_of(steps.begin(), steps.end(), [&](std::int64_t step) { return step < row.steps; }))
      throw_usage_error({field, fmt::format("steps below {}", row.steps),
                         fmt::format("{} in \"{}/...\"", steps.front(), what)});
  };
  for (const auto& change : changes.heads) {
    if (change.of_single_steps)
      require_step(kHeadsField, change.steps, fmt::format("{}.{}", change.id.layer, change.id.head));
    head_changes_[static_cast<std::size_t>(change.id.layer)].push_back(&change);
  }
  for (const auto& change : changes.keys) {
    if (change.of_single_steps) require_step(kKeysField, change.steps, change.where);
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
  auto& scale = scale_[layer];
  bool scaled = false;
  for (const auto* head : head_changes_[layer]) {
    if (!head->steps.contains(address.step)) continue;
    if (!scaled) scale.assign(static_cast<std::size_t>(heads_), 1.0f);
    scaled = true;
    scale[static_cast<std::size_t>(head->id.head)] *= static_cast<float>(head->factor);
  }
  if (scaled) out.head_scale = scale;
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
