// Layers whose MLP is a mixture of experts.
#include <fmt/format.h>

#include <algorithm>

#include "buoy/model/model.h"
#include "buoy/ops/pointwise/elementwise.h"

namespace buoy::model {

// What `normed` [rows, hidden] becomes in an MLP: its own, or the one beside experts.
void Model::plain_mlp(const Context& context, const LayerWeights& layer, std::int64_t rows, float* normed) {
  const std::int64_t width = layer.gate.rows();
  float *gate = work_.gate.reserve(static_cast<size_t>(rows * width)),
        *up = work_.up.reserve(static_cast<size_t>(rows * width));
  linear(context, normed, rows, layer.gate, {}, gate);
  linear(context, normed, rows, layer.up, {}, up);
  ops::swiglu(context, gate, up, rows * width);
  linear(context, gate, rows, layer.down, {}, normed);
}

// The same by experts. `first`: number of the first of these rows among those of the layer.
void Model::mixture_mlp(const Context& context, std::int64_t number, std::int64_t first, std::int64_t rows,
                        float* normed) {
  const LayerWeights& layer = loaded_->weights.layers[static_cast<size_t>(number)];
  const ExpertConfig& c = *config().experts;
  Routed& routed = work_.routed;
  float* logits = routed.logits.reserve(static_cast<size_t>(rows * c.count));
  linear(context, normed, rows, layer.mixture.router, {}, logits);
  require_finite(context, logits, rows * c.count, fmt::format("the router of layer {}", number));
  std::int32_t* experts = routed.experts.data() + first * c.chosen;
  float* weights = routed.weights.data() + first * c.chosen;
  const float* bias = layer.mixture.bias.empty() ? nullptr : layer.mixture.bias.data();
  ops::route(context, router_rule_of(c),
             {logits, rows, bias, {experts, weights, routed.entropy.data() + first}});
  float* out = routed.out.reserve(static_cast<size_t>(rows * config().hidden));
  ops::experts(context, {normed, rows, layer.mixture.experts, c.chosen, experts, weights, out},
               work_.experts);
  if (layer.gate.empty()) {
    std::copy_n(out, rows * config().hidden, normed);
  } else {
    plain_mlp(context, layer, rows, normed);
    ops::add(context, normed, out, rows * config().hidden);
  }
}

void Model::reserve_routed(std::int64_t rows) {
  work_.routed.experts.reserve(static_cast<size_t>(rows * config().experts->chosen));
  work_.routed.weights.reserve(static_cast<size_t>(rows * config().experts->chosen));
  work_.routed.entropy.reserve(static_cast<size_t>(rows));
}

// What was decided for the rows of a sequence, of which every one went through the layer's experts.
probe::RoutingRecord Model::routing_of(const PackedBatch& packed, size_t sequence,
                                       std::span<const std::int64_t> packed_rows) const {
  const std::int64_t begin = packed.first_rows[sequence], rows = packed.sequences[sequence].rows(),
                     chosen = config().experts->chosen;
  const auto all = packed_rows.empty() ? packed.rows() : std::ssize(packed_rows);
  probe::RoutingRecord out;
  out.experts.resize(static_cast<size_t>(rows * chosen));
  out.weights.resize(out.experts.size());
  out.entropy.resize(static_cast<size_t>(rows));
  out.load.assign(static_cast<size_t>(config().experts->count), 0);
  const Routed& routed = work_.routed;
  std::vector<bool> seen(static_cast<size_t>(rows), false);  // a row may go through twice, for its logits
  for (std::int64_t i = 0; i < all; ++i) {
    const std::int64_t row = (packed_rows.empty() ? i : packed_rows[static_cast<size_t>(i)]) - begin;
    if (row < 0 || row >= rows || seen[static_cast<size_t>(row)]) continue;
    seen[static_cast<size_t>(row)] = true;
    std::copy_n(routed.experts.data() + i * chosen, chosen, out.experts.begin() + row * chosen);
    std::copy_n(routed.weights.data() + i * chosen, chosen, out.weights.begin() + row * chosen);
    out.entropy[static_cast<size_t>(row)] = routed.entropy[static_cast<size_t>(i)];
  }
  BUOY_CHECK(std::find(seen.begin(), seen.end(), false) == seen.end());
  for (const auto expert : out.experts) ++out.load[static_cast<size_t>(expert)];
  return out;
}

}  // namespace buoy::model
