#include "buoy/run/change/changing_probe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "buoy/base/error.h"

namespace buoy::run {
namespace {

// Where something is changed, and the field that errors name.
struct Place {
  const char* field;
  const std::string& where;
  const std::vector<std::int64_t>& positions;
};

// Of the row: a change of nothing is refused.
std::vector<std::int64_t> positions_of(const Place& change, const ChangedRow& row) {
  std::vector<std::int64_t> out;
  const auto& names = row.regions.names;
  if (!change.positions.empty()) {
    for (const auto position : change.positions) {
      if (position < row.tokens) out.push_back(position);
    }
    if (out.empty())
      throw_usage_error({change.field, fmt::format("positions below {}, the tokens of this row", row.tokens),
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
      {change.field,
       names.empty() ? "positions, as in 0,5-8 (there are no regions here)"
                     : fmt::format("positions, or a region that has tokens, of {}", fmt::join(names, ", ")),
       '"' + change.where + '"'});
}

void require_steps(const char* field, const std::string& where, const observe::NumberSet& numbers,
                   std::int64_t count) {
  const auto steps = numbers.listed();
  if (std::none_of(steps.begin(), steps.end(), [&](std::int64_t step) { return step < count; }))
    throw_usage_error(
        {field, fmt::format("steps below {}", count), fmt::format("{} in \"{}/...\"", steps.front(), where)});
}

std::vector<std::int64_t> positions_of(const ResidualVectors& change, const ChangedRow& row) {
  std::vector<std::int64_t> out;
  if (change.where == "all" && change.positions.empty()) {
    for (std::int64_t p = 0; p < row.tokens; ++p) out.push_back(p);
  } else {
    out = positions_of(Place{change.field(), change.where, change.positions}, row);
  }
  return out;
}

}  // namespace

ChangingProbe::ChangingProbe(const Changes& changes, const ModelConfig& config, const ChangedRow& row,
                             probe::Probe* observer)
    : ForwardingProbe(observer),
      heads_(config.heads),
      hidden_(config.hidden),
      head_changes_(static_cast<std::size_t>(config.layers)),
      scale_(static_cast<std::size_t>(config.layers)),
      bias_(static_cast<std::size_t>(2 * config.layers)),
      mlps_(changes.mlps),
      forward_vectors_(static_cast<std::size_t>(config.layers)),
      residual_(static_cast<std::size_t>(config.layers)) {
  check_changes(changes, config, row.decode);
  for (const auto& change : changes.heads) {
    const auto& [layer, head] = change.id;
    if (change.of_single_steps)
      require_steps(kHeadsField, fmt::format("{}.{}", layer, head), change.steps, row.steps);
    head_changes_[static_cast<std::size_t>(change.id.layer)].push_back(&change);
  }
  for (const auto& change : changes.keys) {
    if (change.of_single_steps) require_steps(kKeysField, change.where, change.steps, row.steps);
    keys_.push_back({&change, positions_of(Place{kKeysField, change.where, change.positions}, row),
                     static_cast<float>(std::log(change.factor))});
  }
  for (const auto& change : changes.mlps) {
    if (change.of_single_steps) require_steps(kMlpField, "LAYERS", change.steps, row.steps);
  }
  if (changes.top) {
    if (changes.top->of_single_steps) require_steps(kTopField, "K", changes.top->steps, row.steps);
    top_.emplace(*changes.top, config,
                 TopRow{row.id, row.prompt, row.tokens, row.steps, row.seed, row.left_to_right});
  }
  for (const auto& change : changes.residual) {
    if (change.of_single_steps) require_steps(change.field(), change.where, change.steps, row.steps);
    Vectors vectors{&change, positions_of(change, row)};
    const auto given = change.positions.empty() ? vectors.positions.size() : change.positions.size();
    if (std::ssize(change.values) != config.hidden &&
        change.values.size() != given * static_cast<std::size_t>(config.hidden))
      throw_usage_error({change.field(),
                         fmt::format("{} numbers, or as many for each of {} positions", config.hidden, given),
                         fmt::format("{} numbers for \"{}\"", change.values.size(), change.where)});
    vectors_.push_back(std::move(vectors));
  }
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
  auto& bias = bias_of(address);
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
  if (top_) add_top(address, extent, out);
  for (const auto& change : mlps_) {
    if (change.layers.contains(address.layer) && change.steps.contains(address.step))
      out.mlp_scale *= static_cast<float>(change.factor);
  }
  if (!vectors_.empty()) add_residual(address, extent, out);
  return out;
}

probe::LayerRequest ChangingProbe::request(const probe::Address& address, const probe::LayerExtent& extent) {
  auto request = ForwardingProbe::request(address, extent);
  if (!top_) return request;
  shown_[{address.branch, address.layer}] = request.any();
  request.followed = top_->wish(address);
  return request;
}

void ChangingProbe::take(const probe::Address& address, probe::LayerRecord&& record) {
  if (top_ && address.layer != probe::kWholeForward) {
    if (!record.followed.empty()) top_->take(address, std::exchange(record.followed, {}));
    if (!shown_[{address.branch, address.layer}]) return;
  }
  ForwardingProbe::take(address, std::move(record));
}

// The branches of guidance run in one forward.
std::vector<float>& ChangingProbe::bias_of(const probe::Address& address) {
  BUOY_CHECK(address.branch >= 0 && address.branch < 2);
  return bias_[static_cast<std::size_t>(address.branch) * scale_.size() +
               static_cast<std::size_t>(address.layer)];
}

// Factors on the same keys multiply.
void ChangingProbe::add_top(const probe::Address& address, const probe::LayerExtent& extent,
                            probe::Change& out) {
  const auto top = top_->bias(address, extent);
  if (top.empty()) return;
  auto& bias = bias_of(address);
  const auto keys = static_cast<std::size_t>(extent.key_rows);
  if (out.key_bias.empty()) bias.assign(keys, 0.0f);
  bias.resize(top.size());
  for (std::size_t i = top.size(); i-- > 0;) bias[i] = bias[i % keys] + top[i];
  out.key_bias = bias;
}

void ChangingProbe::add_residual(const probe::Address& address, const probe::LayerExtent& extent,
                                 probe::Change& out) {
  const auto layer = static_cast<std::size_t>(address.layer);
  auto& forward = forward_vectors_[layer];
  auto& changes = residual_[layer];
  forward.assign(vectors_.size(), {});
  changes.clear();
  const std::int64_t past = extent.key_rows - extent.query_rows;  // a cache holds these positions
  for (std::size_t n = 0; n < vectors_.size(); ++n) {
    const auto& [change, positions] = vectors_[n];
    if (!change->layers.contains(address.layer) || !change->steps.contains(address.step)) continue;
    const bool alike = std::ssize(change->values) == hidden_;
    auto& [rows, values] = forward[n];
    for (std::size_t i = 0; i < positions.size(); ++i) {
      const std::int64_t row = positions[i] - past;
      if (row < 0 || row >= extent.query_rows) continue;
      rows.push_back(static_cast<std::int32_t>(row));
      const auto at = change->values.begin() + static_cast<std::ptrdiff_t>(i) * hidden_;
      if (!alike) values.insert(values.end(), at, at + hidden_);
    }
    if (!rows.empty())
      changes.push_back({change->at, change->replace, rows,
                         alike ? std::span<const float>(change->values) : std::span<const float>(values)});
  }
  out.residual = changes;
}

}  // namespace buoy::run
