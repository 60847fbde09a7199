#include "buoy/run/change/top_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "buoy/base/error.h"
#include "buoy/base/random.h"

namespace buoy::run {
namespace {

// docs/randomness.md
constexpr auto kTopKeysStream = static_cast<DrawStream>(24);

std::vector<std::int32_t> strongest(std::span<const double> received, std::int64_t count) {
  std::vector<std::int32_t> order;
  for (std::size_t i = 0; i < received.size(); ++i) {
    if (received[i] > 0) order.push_back(static_cast<std::int32_t>(i));
  }
  const auto stronger = [&](std::int32_t a, std::int32_t b) {
    const double x = received[static_cast<std::size_t>(a)], y = received[static_cast<std::size_t>(b)];
    return x > y || (x == y && a < b);
  };
  const auto kept = std::min(count, std::ssize(order));
  std::partial_sort(order.begin(), order.begin() + kept, order.end(), stronger);
  order.resize(static_cast<std::size_t>(kept));
  return order;
}

// At most `count` of those that the rule selects by itself, the strongest.
std::vector<std::int32_t> strongest_of_rule(const TopChange& change, std::span<const double> received) {
  const double total = std::accumulate(received.begin(), received.end(), 0.0);
  if (total <= 0) return {};
  std::vector<double> share;
  for (const double value : received) share.push_back(value / total);
  // The rows that decide see all keys there are.
  analysis::AnchorDetector detector(analysis::kFullMask, std::ssize(share), {});
  analysis::Anchors anchors;
  detector.look(share);
  detector.find(change.rule, anchors);
  if (!anchors.fired) return {};
  std::vector<double> selected(share.size(), 0.0);
  for (const auto position : anchors.positions)
    selected[static_cast<std::size_t>(position)] = share[static_cast<std::size_t>(position)];
  return strongest(selected, change.keys);
}

// All keys but some, in an order that was drawn.
std::vector<std::int32_t> drawn_others(std::span<const std::int32_t> some, std::size_t keys,
                                       const TopDraw& draw) {
  std::vector<std::pair<double, std::int32_t>> order;
  for (std::size_t i = 0; i < keys; ++i) {
    const auto key = static_cast<std::int32_t>(i);
    if (std::find(some.begin(), some.end(), key) != some.end()) continue;
    const DrawAddress address{kTopKeysStream, static_cast<std::uint32_t>(draw.step),
                              static_cast<std::uint32_t>(draw.layer * draw.heads + draw.head),
                              static_cast<std::uint32_t>(i)};
    order.emplace_back(uniform(draw.seed, address), key);
  }
  std::sort(order.begin(), order.end());
  std::vector<std::int32_t> out;
  for (const auto& [number, key] : order) out.push_back(key);
  return out;
}

double sum_of(std::span<const double> received, std::span<const std::int32_t> keys) {
  double sum = 0;
  for (const auto key : keys) sum += received[static_cast<std::size_t>(key)];
  return sum;
}

// Of keys in their drawn order those that together receive `aim`: each that does not lift their sum above it,
// then one more where that comes closer.
std::vector<std::int32_t> of_mass(std::span<const std::int32_t> drawn, std::span<const double> received,
                                  double aim) {
  std::vector<std::int32_t> out, left;
  double sum = 0;
  const auto with = [&](std::int32_t key) { return sum + received[static_cast<std::size_t>(key)]; };
  for (const auto key : drawn) {
    const bool fits = with(key) > sum && with(key) <= aim;
    (fits ? out : left).push_back(key);
    if (fits) sum = with(key);
  }
  for (const auto key : left) {
    if (!(std::abs(aim - with(key)) < std::abs(aim - sum))) continue;
    out.push_back(key);
    break;
  }
  return out;
}

std::vector<std::int32_t> top_of(const TopChange& change, std::span<const double> received) {
  return change.of == TopOf::kRule ? strongest_of_rule(change, received) : strongest(received, change.keys);
}

}  // namespace

std::vector<std::int32_t> choose_top_keys(const TopChange& change, std::span<const double> received,
                                          const TopDraw& draw) {
  auto keys = top_of(change, received);
  if (change.control != TopControl::kNone) {
    auto others = drawn_others(keys, received.size(), draw);
    if (change.control == TopControl::kRandom) {
      others.resize(std::min(others.size(), keys.size()));
    } else {
      others = of_mass(others, received, sum_of(received, keys));
    }
    keys = std::move(others);
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

void check_top_change(const TopChange& change, const ModelConfig& config) {
  change.layers.below(config.layers, "layers");  // refuses others
  for (const auto& [layer, head] : change.heads) {
    if (layer < 0 || layer >= config.layers || head < 0 || head >= config.heads)
      throw_usage_error({kTopField,
                         fmt::format("layers 0 to {} and heads 0 to {}", config.layers - 1, config.heads - 1),
                         fmt::format("{}.{}", layer, head)});
  }
}

void check_top_steps(const TopChange& change, std::int64_t steps) {
  if (change.keys == 0 || !change.follows()) return;
  if (steps < 2)
    throw_usage_error({kTopOfField, "at least 2 steps: the first has none before it", std::to_string(steps)});
  if (change.of_single_steps && change.steps.contains(0))
    throw_usage_error({kTopField, "steps from 1 on: the first has none before it", "step 0"});
}

TopKeys::TopKeys(const TopChange& change, const ModelConfig& config, const TopRow& row)
    : change_(change),
      layers_(config.layers),
      heads_(config.heads),
      row_(row),
      log_factor_(static_cast<float>(std::log(change.factor))),
      state_(static_cast<std::size_t>(2 * config.layers)) {
  check_top_change(change, config);
  if (!change.heads.empty()) {
    chosen_heads_.assign(static_cast<std::size_t>(layers_ * heads_), 0);
    for (const auto& [layer, head] : change.heads)
      chosen_heads_[static_cast<std::size_t>(layer * heads_ + head)] = 1;
  }
  if (change.keys == 0) {
    row_.prompt = {};
    return;
  }
  // One key at least stays, and a control needs as many others.
  const std::int64_t keys = row.left_to_right ? std::ssize(row.prompt) : row.tokens;
  const bool drawn = change.control == TopControl::kRandom;
  const std::int64_t most = drawn ? keys / 2 : keys - 1;
  if (change.keys > most)
    throw_usage_error(
        {kTopField,
         fmt::format("at most {} of the {} keys{}", most, keys, drawn ? ", with as many others drawn" : ""),
         std::to_string(change.keys)});
  check_top_steps(change, row.steps);
  if (change.of == TopOf::kTrace) traced_ = change.trace->sample({row.id, row.prompt, layers_, heads_});
  row_.prompt = {};  // it may be gone when keys are chosen
}

TopKeys::Layer& TopKeys::at(const probe::Address& address) {
  BUOY_CHECK(address.branch >= 0 && address.branch < 2 && address.layer >= 0 && address.layer < layers_);
  return state_[static_cast<std::size_t>(address.branch * layers_ + address.layer)];
}

probe::FollowedRows TopKeys::wish(const probe::Address& address) const {
  if (!change_.follows() || !change_.acts(address.step + 1, address.layer)) return probe::FollowedRows::kNone;
  return row_.left_to_right ? probe::FollowedRows::kLast : probe::FollowedRows::kAll;
}

void TopKeys::take(const probe::Address& address, std::vector<float>&& received) {
  Layer& layer = at(address);
  layer.step = address.step;
  layer.received = std::move(received);
}

std::vector<double> TopKeys::received(const Layer& layer, const probe::Address& address, std::int64_t head,
                                      std::int64_t keys) const {
  const auto of_head = [&](const auto& all, std::int64_t known) {
    const auto first = all.begin() + head * known;
    return std::vector<double>(first, first + std::min(known, keys));
  };
  if (change_.follows()) {
    if (layer.step < 0 || layer.step + 1 != address.step) return {};
    return of_head(layer.received, std::ssize(layer.received) / heads_);
  }
  const auto step = std::min(static_cast<std::size_t>(address.step), traced_.received.size() - 1);
  return of_head(traced_.received[step][static_cast<std::size_t>(address.layer)], traced_.keys);
}

std::span<const float> TopKeys::bias(const probe::Address& address, const probe::LayerExtent& extent) {
  if (!change_.acts(address.step, address.layer) || mismatch_) return {};
  if (!change_.follows()) {
    try {
      change_.trace->require_rows(traced_,
                                  {address.step, extent.key_rows - extent.query_rows, extent.key_rows});
    } catch (const InputError&) {
      mismatch_ = std::current_exception();  // others may run in this forward
      return {};
    }
  }
  Layer& layer = at(address);
  bool any = false;
  for (std::int64_t head = 0; head < heads_; ++head) {
    if (!chosen_heads_.empty() && chosen_heads_[static_cast<std::size_t>(address.layer * heads_ + head)] == 0)
      continue;
    const auto weights = received(layer, address, head, extent.key_rows);
    if (weights.empty()) continue;
    ++asked_;
    const auto keys =
        choose_top_keys(change_, weights, {row_.seed, address.step, address.layer, head, heads_});
    if (keys.empty()) continue;
    if (!any) layer.bias.assign(static_cast<std::size_t>(heads_ * extent.key_rows), 0.0f);
    any = true;
    for (const auto key : keys)
      layer.bias[static_cast<std::size_t>(head * extent.key_rows + key)] = log_factor_;
    ++changed_;
  }
  return any ? std::span<const float>(layer.bias) : std::span<const float>();
}

void TopKeys::finish() const {
  if (mismatch_) std::rethrow_exception(mismatch_);
  if (change_.of != TopOf::kRule || asked_ == 0 || changed_ > 0) return;
  throw_usage_error({kTopOfField, "a rule that selects keys",
                     fmt::format("{}: none in {} heads of all layers and steps",
                                 analysis::rule_name(change_.rule, {}), asked_)});
}

}  // namespace buoy::run
