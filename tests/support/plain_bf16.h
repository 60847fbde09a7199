#pragma once

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "buoy/checkpoint/checkpoint.h"
#include "buoy/model/family.h"
#include "buoy/model/packed_batch.h"
#include "buoy/model/weights.h"
#include "buoy/ops/pointwise/rope.h"
#include "buoy/tensor/dtype.h"

namespace buoy::testing {

// A forward as one writes it first: every operation rounds its result to bf16, sums are float. What it loses
// is the measure for the GPU's pass. Written without the code under test; slow.
class PlainBf16 {
 public:
  explicit PlainBf16(const std::filesystem::path& folder)
      : checkpoint_(Checkpoint::open(folder)),
        traits_(model::traits_of(checkpoint_.config().family)),
        weights_(model::load_weights(checkpoint_, traits_)) {}

  // Logits of every row. `prefix`: where the mask is one of prefixes; `grid`: of blocks, in the place of the
  // model's own mask.
  std::vector<float> forward(std::span<const std::int32_t> tokens, std::int64_t prefix = 0,
                             std::optional<model::BlockGrid> grid = std::nullopt) const {
    const ModelConfig& c = checkpoint_.config();
    const auto rows = static_cast<std::int64_t>(tokens.size());
    std::vector<float> stream;
    for (const auto token : tokens) {
      std::vector<float> row(static_cast<size_t>(c.hidden));
      to_float(weights_.embedding, token * c.hidden, c.hidden, row.data());
      for (const float value : row) stream.push_back(round(value));
    }
    for (const auto& layer : weights_.layers) {
      const auto normed = norm(stream, layer.attention_norm);
      auto queries = linear(normed, rows, layer.query, layer.query_bias);
      auto keys = linear(normed, rows, layer.key, layer.key_bias);
      const auto values = linear(normed, rows, layer.value, layer.value_bias);
      if (!layer.query_norm.empty()) {
        queries = norm(queries, layer.query_norm);
        keys = norm(keys, layer.key_norm);
      }
      rotate(queries, c.heads, true);
      rotate(keys, c.kv_heads, false);
      add(stream,
          linear(attention(queries, keys, values, rows, prefix, grid), rows, layer.attention_out, {}));
      const auto wide = norm(stream, layer.mlp_norm);
      auto added = std::vector<float>(stream.size(), 0.0f);
      if (layer.mixture.any()) added = mixture(wide, rows, layer.mixture);
      if (!layer.gate.empty()) add(added, mlp(wide, rows, layer.gate, layer.up, layer.down));
      add(stream, added);
    }
    return linear(norm(stream, weights_.final_norm), rows, weights_.head, {});
  }

 private:
  static std::vector<float> mlp(const std::vector<float>& input, std::int64_t rows, const Weight& gates,
                                const Weight& ups, const Weight& down) {
    auto gate = linear(input, rows, gates, {});
    const auto up = linear(input, rows, ups, {});
    for (size_t i = 0; i < gate.size(); ++i)
      gate[i] = round(round(gate[i] / (1 + std::exp(-gate[i]))) * up[i]);
    return linear(gate, rows, down, {});
  }

  // Row by row, expert by expert. A sigmoid router is float32, a softmax router's logits are bf16.
  std::vector<float> mixture(const std::vector<float>& input, std::int64_t rows,
                             const model::MixtureWeights& weights) const {
    const ops::RouterRule rule = model::router_rule_of(*checkpoint_.config().experts);
    const auto hidden = static_cast<size_t>(weights.router.columns()),
               count = static_cast<size_t>(rule.experts);
    std::vector<float> router(count * hidden), out;
    to_float(weights.router, 0, weights.router.size(), router.data());
    for (size_t row = 0; row < static_cast<size_t>(rows); ++row) {
      const std::vector<float> own(input.begin() + static_cast<std::ptrdiff_t>(row * hidden),
                                   input.begin() + static_cast<std::ptrdiff_t>((row + 1) * hidden));
      std::vector<double> logits;
      for (size_t e = 0; e < count; ++e) {
        float sum = 0;
        for (size_t i = 0; i < hidden; ++i) sum += own[i] * router[e * hidden + i];
        logits.push_back(rule.kind == ops::RouterKind::kSoftmax ? round(sum) : sum);
      }
      std::vector<std::int32_t> chosen(static_cast<size_t>(rule.chosen));
      std::vector<double> shares(chosen.size());
      ops::route_reference(rule, logits.data(), weights.bias.empty() ? nullptr : weights.bias.data(),
                           {chosen.data(), shares.data(), nullptr});
      std::vector<float> sum(hidden, 0.0f);
      for (size_t n = 0; n < chosen.size(); ++n) {
        const ops::ExpertWeights& expert = weights.experts[static_cast<size_t>(chosen[n])];
        const auto returned = mlp(own, 1, expert.gate, expert.up, expert.down);
        const float share = round(static_cast<float>(shares[n]));
        for (size_t i = 0; i < hidden; ++i) sum[i] = round(sum[i] + round(share * returned[i]));
      }
      out.insert(out.end(), sum.begin(), sum.end());
    }
    return out;
  }

  static float round(float value) { return bf16_to_float(float_to_bf16(value)); }

  static void add(std::vector<float>& stream, const std::vector<float>& term) {
    for (size_t i = 0; i < stream.size(); ++i) stream[i] = round(stream[i] + term[i]);
  }

  std::vector<float> norm(const std::vector<float>& input, const std::vector<float>& weight) const {
    std::vector<float> out;
    for (size_t first = 0; first < input.size(); first += weight.size()) {
      float sum = 0;
      for (size_t i = 0; i < weight.size(); ++i) sum += input[first + i] * input[first + i];
      const float factor = 1 / std::sqrt(sum / static_cast<float>(weight.size()) +
                                         static_cast<float>(checkpoint_.config().norm_eps));
      for (size_t i = 0; i < weight.size(); ++i)
        out.push_back(round(round(input[first + i] * factor) * weight[i]));
    }
    return out;
  }

  static std::vector<float> linear(const std::vector<float>& input, std::int64_t rows, const Weight& weight,
                                   const std::vector<float>& bias) {
    const auto inputs = static_cast<size_t>(weight.columns()), outputs = static_cast<size_t>(weight.rows());
    std::vector<float> matrix(inputs * outputs), out;
    to_float(weight, 0, weight.size(), matrix.data());
    for (float& value : matrix) value = round(value);
    for (size_t r = 0; r < static_cast<size_t>(rows); ++r) {
      for (size_t o = 0; o < outputs; ++o) {
        float sum = 0;
        for (size_t i = 0; i < inputs; ++i) sum += input[r * inputs + i] * matrix[o * inputs + i];
        out.push_back(round(bias.empty() ? sum : round(sum) + round(bias[o])));
      }
    }
    return out;
  }

  void rotate(std::vector<float>& states, std::int64_t heads, bool queries) const {
    const auto scales = model::rotary_scales_of(checkpoint_.config().rope);
    const auto frequencies = model::rope_frequencies_of(checkpoint_.config().rope);
    const auto dim = static_cast<size_t>(checkpoint_.config().head_dim), pairs = frequencies.size();
    for (size_t first = 0; first < states.size(); first += dim) {
      const size_t position = first / dim / static_cast<size_t>(heads);
      for (size_t j = 0; j < pairs; ++j) {
        const double angle = static_cast<double>(position) * frequencies[j];
        const float cosine = round(static_cast<float>(std::cos(angle))),
                    sine = round(static_cast<float>(std::sin(angle)));
        const float a = states[first + j], b = states[first + j + pairs];
        states[first + j] = round(round(a * cosine) - round(b * sine));
        states[first + j + pairs] = round(round(b * cosine) + round(a * sine));
      }
      const double scale = queries ? scales.of_query(static_cast<std::int64_t>(position)) : scales.of_key();
      if (!scales.any()) continue;
      for (size_t d = 0; d < dim; ++d)
        states[first + d] = round(states[first + d] * static_cast<float>(scale));
    }
  }

  std::vector<float> attention(const std::vector<float>& queries, const std::vector<float>& keys,
                               const std::vector<float>& values, std::int64_t rows, std::int64_t prefix,
                               std::optional<model::BlockGrid> grid) const {
    const ModelConfig& c = checkpoint_.config();
    const auto heads = static_cast<size_t>(c.heads), kv = static_cast<size_t>(c.kv_heads),
               dim = static_cast<size_t>(c.head_dim), count = static_cast<size_t>(rows);
    std::vector<float> out(queries.size());
    for (size_t h = 0; h < heads; ++h) {
      const size_t k = h / (heads / kv);
      for (size_t r = 0; r < count; ++r) {
        const auto mask = mask_of(c);
        size_t seen = mask == AttentionMaskKind::kFull ? count : r + 1;
        if (mask == AttentionMaskKind::kPrefix) seen = std::max(seen, static_cast<size_t>(prefix));
        if (grid) {
          auto end = grid->origin % grid->block;  // of the first block, unless the grid begins at 0
          while (end <= static_cast<std::int64_t>(r)) end += grid->block;
          if (static_cast<std::int64_t>(r) < grid->origin && grid->before != ops::BeforeGrid::kBlocks)
            end = grid->before == ops::BeforeGrid::kWhole ? grid->origin : static_cast<std::int64_t>(r) + 1;
          seen = std::min(count, static_cast<size_t>(end));
        }
        std::vector<float> p(seen);
        float top = -std::numeric_limits<float>::infinity(), sum = 0;
        for (size_t j = 0; j < seen; ++j) {
          float dot = 0;
          for (size_t d = 0; d < dim; ++d)
            dot += queries[(r * heads + h) * dim + d] * keys[(j * kv + k) * dim + d];
          p[j] = round(round(dot) / std::sqrt(static_cast<float>(dim)));
          top = std::max(top, p[j]);
        }
        for (float& value : p) sum += value = std::exp(value - top);
        for (size_t d = 0; d < dim; ++d) {
          float total = 0;
          for (size_t j = 0; j < seen; ++j) total += round(p[j] / sum) * values[(j * kv + k) * dim + d];
          out[(r * heads + h) * dim + d] = round(total);
        }
      }
    }
    return out;
  }

  Checkpoint checkpoint_;
  model::FamilyTraits traits_;
  model::ModelWeights weights_;
};

}  // namespace buoy::testing
