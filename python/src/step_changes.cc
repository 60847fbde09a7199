#include "step_changes.h"

#include <algorithm>
#include <cmath>

#include "buoy/base/error.h"

namespace buoy::python {

void add(run::Changes& to, const run::Changes& others) {
  const auto append = [](auto& list, const auto& from) { list.insert(list.end(), from.begin(), from.end()); };
  append(to.heads, others.heads);
  append(to.keys, others.keys);
  append(to.mlps, others.mlps);
  append(to.residual, others.residual);
  if (others.top) {
    if (to.top) throw_usage_error({run::kTopField, "one at a time", "a second, inside of the first"});
    to.top = others.top;
  }
  append(to.texts, others.texts);
}

StepChanges::StepChanges(std::int64_t layers, std::int64_t head_count, std::int64_t token_count)
    : heads(head_count),
      tokens(token_count),
      key_bias(static_cast<size_t>(layers)),
      head_scale(static_cast<size_t>(layers)) {}

bool StepChanges::any() const {
  const auto given = [](const std::vector<float>& values) { return !values.empty(); };
  return std::any_of(key_bias.begin(), key_bias.end(), given) ||
         std::any_of(head_scale.begin(), head_scale.end(), given);
}

namespace {

// One number, or all of them below `count` for -1. UsageError beyond.
struct Range {
  std::int64_t first, last;
};
Range range_of(const char* what, std::int64_t number, std::int64_t count) {
  if (number == -1) return {0, count};
  if (number < 0 || number >= count)
    throw_usage_error({what, "a number from 0 to " + std::to_string(count - 1), std::to_string(number)});
  return {number, number + 1};
}

void check_factor(double factor) {
  if (!(factor >= 0 && factor <= 1e6))
    throw_usage_error({"factor", "a number from 0 to 1e6", std::to_string(factor)});
}

}  // namespace

void StepChanges::scale_key(std::int64_t layer, std::int64_t head, std::int64_t position, double factor) {
  check_factor(factor);
  range_of("key", position < 0 ? tokens : position, tokens);
  const auto layers = range_of("layer", layer, static_cast<std::int64_t>(key_bias.size()));
  const auto some_heads = range_of("head", head, heads);
  for (auto l = layers.first; l < layers.last; ++l) {
    auto& bias = key_bias[static_cast<size_t>(l)];
    bias.resize(static_cast<size_t>(heads * tokens), 0.0F);
    for (auto h = some_heads.first; h < some_heads.last; ++h)
      bias[static_cast<size_t>(h * tokens + position)] += static_cast<float>(std::log(factor));
  }
}

void StepChanges::scale_head(std::int64_t layer, std::int64_t head, double factor) {
  check_factor(factor);
  const auto layers = range_of("layer", layer, static_cast<std::int64_t>(head_scale.size()));
  const auto some_heads = range_of("head", head, heads);
  for (auto l = layers.first; l < layers.last; ++l) {
    auto& scale = head_scale[static_cast<size_t>(l)];
    scale.resize(static_cast<size_t>(heads), 1.0F);
    for (auto h = some_heads.first; h < some_heads.last; ++h)
      scale[static_cast<size_t>(h)] *= static_cast<float>(factor);
  }
}

probe::Change StepChangeProbe::change(const probe::Address& address, const probe::LayerExtent& extent) {
  const probe::Change inner = ForwardingProbe::change(address, extent);
  const auto layer = static_cast<size_t>(address.layer);
  const auto heads = static_cast<size_t>(changes_.heads);
  const auto keys = static_cast<size_t>(extent.key_rows), tokens = static_cast<size_t>(changes_.tokens);
  bias_.resize(changes_.key_bias.size());
  scale_.resize(changes_.head_scale.size());
  probe::Change out = inner;
  if (const auto& own = changes_.key_bias.at(layer); !own.empty()) {
    auto& bias = bias_[layer];
    bias.assign(heads * keys, 0.0F);
    for (size_t h = 0; h < heads; ++h) {
      for (size_t k = 0; k < keys; ++k) {
        float& value = bias[h * keys + k];
        if (k < tokens) value = own[h * tokens + k];
        if (!inner.key_bias.empty())
          value += inner.key_bias[inner.key_bias.size() == keys ? k : h * keys + k];
      }
    }
    out.key_bias = bias;
  }
  if (const auto& own = changes_.head_scale.at(layer); !own.empty()) {
    auto& scale = scale_[layer];
    scale = own;
    for (size_t h = 0; h < heads && !inner.head_scale.empty(); ++h) scale[h] *= inner.head_scale[h];
    out.head_scale = scale;
  }
  return out;
}

}  // namespace buoy::python
