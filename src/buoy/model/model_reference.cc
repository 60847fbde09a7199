#include "buoy/model/model_reference.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "buoy/base/error.h"
#include "buoy/model/block_grid.h"
#include "buoy/model/family.h"

namespace buoy::model {
namespace {

template <typename Number>
std::vector<Number> product(const std::vector<Number>& input, const Weight& weight,
                            const std::vector<float>& bias) {
  const std::int64_t outputs = weight.rows(), inputs = weight.columns(), rows = std::ssize(input) / inputs;
  std::vector<Number> out(static_cast<size_t>(rows * outputs));
  std::vector<float> column(static_cast<size_t>(inputs));
  for (std::int64_t n = 0; n < outputs; ++n) {
    to_float(weight, n * inputs, inputs, column.data());
    for (std::int64_t m = 0; m < rows; ++m) {
      Number sum = bias.empty() ? 0 : bias[static_cast<size_t>(n)];
      for (std::int64_t k = 0; k < inputs; ++k)
        sum += input[static_cast<size_t>(m * inputs + k)] * Number{column[static_cast<size_t>(k)]};
      out[static_cast<size_t>(m * outputs + n)] = sum;
    }
  }
  return out;
}

template <typename Number>
std::vector<Number> swiglu_product(const std::vector<Number>& input, const Weight& gate_weight,
                                   const Weight& up_weight, const Weight& down) {
  std::vector<Number> gate = product(input, gate_weight, {});
  const std::vector<Number> up = product(input, up_weight, {});
  for (size_t i = 0; i < gate.size(); ++i) gate[i] = gate[i] / (1 + std::exp(-gate[i])) * up[i];
  return product(gate, down, {});
}

// Half-split rotation of [rows, heads, head_dim] by the row's position.
template <typename Number>
void rotate(std::vector<Number>& states, std::int64_t heads, std::int64_t head_dim,
            const std::vector<double>& frequencies, std::int64_t first_position) {
  const std::int64_t pairs = std::ssize(frequencies), rows = std::ssize(states) / (heads * head_dim);
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t head = 0; head < heads; ++head) {
      Number* x = states.data() + (row * heads + head) * head_dim;
      for (std::int64_t j = 0; j < pairs; ++j) {
        const double angle = static_cast<double>(first_position + row) * frequencies[static_cast<size_t>(j)];
        const auto cosine = static_cast<Number>(std::cos(angle)), sine = static_cast<Number>(std::sin(angle));
        const Number a = x[j], b = x[j + pairs];
        x[j] = a * cosine - b * sine;
        x[j + pairs] = b * cosine + a * sine;
      }
    }
  }
}

template <typename Number>
void add(std::vector<Number>& sum, const std::vector<Number>& term) {
  for (size_t i = 0; i < sum.size(); ++i) sum[i] += term[i];
}

template <typename Number>
void change_stream(std::vector<Number>& stream, std::int64_t hidden, probe::ResidualPoint point,
                   const probe::Change& change) {
  for (const auto& one : change.residual) {
    if (one.at != point) continue;
    for (size_t j = 0; j < one.rows.size(); ++j) {
      const auto row = one.rows[j];
      BUOY_CHECK(row >= 0 && row < std::ssize(stream) / hidden);
      for (std::int64_t d = 0; d < hidden; ++d) {
        const bool alike = std::ssize(one.values) == hidden;
        const Number value =
            one.values[static_cast<size_t>((alike ? 0 : static_cast<std::int64_t>(j) * hidden) + d)];
        Number& to = stream[static_cast<size_t>(row * hidden + d)];
        to = one.replace ? value : to + value;
      }
    }
  }
}

}  // namespace

template <typename Number>
auto PlainPass<Number>::norm(const Numbers& states, const std::vector<float>& weight) const -> Numbers {
  const auto width = weight.size();
  Numbers out(states.begin(), states.end());
  for (size_t at = 0; at < out.size(); at += width) {
    Number sum = 0;
    for (size_t i = 0; i < width; ++i) sum += out[at + i] * out[at + i];
    const Number scale =
        1 / std::sqrt(sum / static_cast<Number>(width) + static_cast<Number>(config_.norm_eps));
    for (size_t i = 0; i < width; ++i) out[at + i] *= scale * weight[i];
  }
  return out;
}

template <typename Number>
auto PlainPass<Number>::attend(const Attention& attention, Numbers& all_weights) const -> Numbers {
  const auto& [layer, normed, sequence, change, all_keys, all_values] = attention;
  const ModelConfig& c = config_;
  const std::int64_t rows = sequence.rows(), past = sequence.past(), key_rows = sequence.key_rows();
  const ops::MaskKind mask = mask_kind(c, {&sequence, 1});
  const BlockGrid grid = grid_of(c, sequence);
  Numbers queries = product(normed, layer.query, layer.query_bias),
          keys = product(normed, layer.key, layer.key_bias);
  const Numbers values = product(normed, layer.value, layer.value_bias);
  if (!layer.query_norm.empty()) {
    queries = norm(queries, layer.query_norm);
    keys = norm(keys, layer.key_norm);
  }
  const std::vector<double> frequencies = rope_frequencies_of(c.rope);
  const ops::RotaryScales scales = rotary_scales_of(c.rope);
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto of_query = static_cast<Number>(scales.of_query(past + row)),
               of_key = static_cast<Number>(scales.of_key());
    for (std::int64_t i = 0; i < c.heads * c.head_dim; ++i)
      queries[static_cast<size_t>(row * c.heads * c.head_dim + i)] *= of_query;
    for (std::int64_t i = 0; i < c.kv_heads * c.head_dim; ++i)
      keys[static_cast<size_t>(row * c.kv_heads * c.head_dim + i)] *= of_key;
  }
  rotate(queries, c.heads, c.head_dim, frequencies, past);
  rotate(keys, c.kv_heads, c.head_dim, frequencies, past);
  const std::int64_t key_width = c.kv_heads * c.head_dim;
  all_keys.resize(static_cast<size_t>(key_rows * key_width));
  all_values.resize(all_keys.size());
  std::copy(keys.begin(), keys.end(), all_keys.begin() + past * key_width);
  std::copy(values.begin(), values.end(), all_values.begin() + past * key_width);
  all_weights.assign(static_cast<size_t>(c.heads * rows * key_rows), 0);
  Numbers out(static_cast<size_t>(rows * c.heads * c.head_dim), 0);
  Numbers weights(static_cast<size_t>(key_rows));
  for (std::int64_t head = 0; head < c.heads; ++head) {
    const std::int64_t kv_head = head / (c.heads / c.kv_heads);
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int64_t end = ops::visible_end({mask, grid.block}, sequence.prefix_length(), past + row,
                                                key_rows, grid.origin, grid.before);
      const Number* query = queries.data() + (row * c.heads + head) * c.head_dim;
      const bool per_head = std::ssize(change.key_bias) > key_rows;
      Number sum = 0, largest = -std::numeric_limits<Number>::infinity();
      for (std::int64_t j = 0; j < end; ++j) {
        const Number* key = all_keys.data() + (j * c.kv_heads + kv_head) * c.head_dim;
        Number score = 0;
        for (std::int64_t d = 0; d < c.head_dim; ++d) score += query[d] * key[d];
        score /= std::sqrt(static_cast<Number>(c.head_dim));
        if (!change.key_bias.empty())
          score += change.key_bias[static_cast<size_t>((per_head ? head * key_rows : 0) + j)];
        weights[static_cast<size_t>(j)] = score;
        largest = std::max(largest, score);
      }
      if (largest == -std::numeric_limits<Number>::infinity())
        continue;  // a query that sees no key gets zeros
      for (std::int64_t j = 0; j < end; ++j)
        sum += weights[static_cast<size_t>(j)] = std::exp(weights[static_cast<size_t>(j)] - largest);
      const Number scale = change.head_scale.empty() ? 1 : change.head_scale[static_cast<size_t>(head)];
      Number* to = out.data() + (row * c.heads + head) * c.head_dim;
      for (std::int64_t j = 0; j < end; ++j) {
        const Number* value = all_values.data() + (j * c.kv_heads + kv_head) * c.head_dim;
        all_weights[static_cast<size_t>((head * rows + row) * key_rows + j)] =
            weights[static_cast<size_t>(j)] / sum;
        const Number weight = scale * weights[static_cast<size_t>(j)] / sum;
        for (std::int64_t d = 0; d < c.head_dim; ++d) to[d] += weight * value[d];
      }
    }
  }
  return out;
}

template <typename Number>
auto PlainPass<Number>::mlp(const LayerWeights& layer, const Numbers& normed) const -> Numbers {
  Numbers out;
  if (!layer.gate.empty()) out = swiglu_product(normed, layer.gate, layer.up, layer.down);
  if (!layer.mixture.any()) return out;
  Numbers routed = mixture(layer.mixture, normed);
  if (!out.empty()) add(routed, out);
  return routed;
}

template <typename Number>
auto PlainPass<Number>::mixture(const MixtureWeights& mixture, const Numbers& normed) const -> Numbers {
  const ops::RouterRule rule = router_rule_of(*config_.experts);
  const Numbers logits = product(normed, mixture.router, {});
  const std::int64_t rows = std::ssize(normed) / config_.hidden;
  Numbers out(normed.size(), 0);
  std::vector<std::int32_t> chosen(static_cast<size_t>(rule.chosen));
  std::vector<double> weights(chosen.size());
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::vector<double> z(logits.begin() + row * rule.experts,
                                logits.begin() + (row + 1) * rule.experts);
    ops::route_reference(rule, z.data(), mixture.bias.empty() ? nullptr : mixture.bias.data(),
                         {chosen.data(), weights.data(), nullptr});
    const Numbers state(normed.begin() + row * config_.hidden, normed.begin() + (row + 1) * config_.hidden);
    for (size_t n = 0; n < chosen.size(); ++n) {
      const ops::ExpertWeights& expert = mixture.experts[static_cast<size_t>(chosen[n])];
      const Numbers term = swiglu_product(state, expert.gate, expert.up, expert.down);
      for (size_t j = 0; j < term.size(); ++j)
        out[static_cast<size_t>(row * config_.hidden) + j] += static_cast<Number>(weights[n]) * term[j];
    }
  }
  return out;
}

template <typename Number>
auto PlainPass<Number>::lens(const Numbers& states) const -> Numbers {
  return product(norm(states, weights_.final_norm), weights_.head, {});
}

template <typename Number>
PlainStates<Number> PlainPass<Number>::forward(const SequenceInput& sequence, probe::Probe* probe,
                                               PlainCache<Number>* past) const {
  BUOY_CHECK((sequence.cache == nullptr) == (past == nullptr));
  PlainCache<Number> own;
  PlainCache<Number>& cache = past != nullptr ? *past : own;
  cache.keys.resize(static_cast<size_t>(config_.layers));
  cache.values.resize(static_cast<size_t>(config_.layers));
  const std::int64_t hidden = config_.hidden, rows = sequence.rows();
  Numbers stream;
  std::vector<float> embedded(static_cast<size_t>(hidden));
  for (const auto token : sequence.tokens) {
    to_float(weights_.embedding, token * hidden, hidden, embedded.data());
    stream.insert(stream.end(), embedded.begin(), embedded.end());
  }
  PlainStates<Number> out;
  for (std::int64_t number = 0; number < config_.layers; ++number) {
    const LayerWeights& layer = weights_.layers[static_cast<size_t>(number)];
    probe::Address address = sequence.address;
    address.layer = number;
    const probe::Change change =
        probe != nullptr ? probe->change(address, {rows, sequence.key_rows(), config_.heads, sequence.tokens})
                         : probe::Change{};
    PlainLayer<Number> seen;
    change_stream(stream, hidden, probe::ResidualPoint::kPre, change);
    seen.pre = stream;
    const Numbers normed = norm(stream, layer.attention_norm);
    seen.head_out = attend({layer, normed, sequence, change, cache.keys[static_cast<size_t>(number)],
                            cache.values[static_cast<size_t>(number)]},
                           seen.weights);
    seen.attention_out = product(seen.head_out, layer.attention_out, {});
    add(stream, seen.attention_out);
    change_stream(stream, hidden, probe::ResidualPoint::kMid, change);
    seen.mid = stream;
    seen.mlp_out = mlp(layer, norm(stream, layer.mlp_norm));
    for (Number& value : seen.mlp_out) value = change.mlp_scale == 0.0f ? 0 : value * change.mlp_scale;
    add(stream, seen.mlp_out);
    change_stream(stream, hidden, probe::ResidualPoint::kPost, change);
    seen.post = stream;
    out.layers.push_back(std::move(seen));
  }
  out.logits = lens(stream);
  return out;
}

template class PlainPass<double>;
template class PlainPass<float>;

}  // namespace buoy::model
