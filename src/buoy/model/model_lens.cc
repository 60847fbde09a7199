// From states to tokens, and from heads to the residual stream.
#include <algorithm>

#include "buoy/base/error.h"
#include "buoy/model/model.h"
#include "buoy/ops/pointwise/norm.h"
#include "buoy/ops/sampling/top_tokens.h"

namespace buoy::model {
namespace {

// Rows of the lens at a time: so many logits exist beside those that were asked for.
constexpr std::int64_t kLensRows = 64;

}  // namespace

float* Model::logits(const Context& context, const float* states, std::int64_t count,
                     const std::string& where) {
  float* normed = work_.normed.reserve(static_cast<size_t>(count * config().hidden));
  ops::rms_norm(context, {states, count, config().hidden, loaded_->weights.final_norm.data(),
                          config().norm_eps, normed});
  float* out = work_.logits.reserve(static_cast<size_t>(count * config().vocabulary));
  linear(context, normed, count, loaded_->weights.head, {}, out);
  require_finite(context, out, count * config().vocabulary, where);
  return out;
}

void Model::lens(const Context& context, std::span<const float> states, std::int64_t top,
                 probe::ResidualRecord& record) {
  const std::int64_t hidden = config().hidden, rows = std::ssize(states) / hidden;
  BUOY_CHECK(std::ssize(states) == rows * hidden && top >= 1 && top <= config().vocabulary);
  record.lens_tokens.resize(static_cast<size_t>(rows * top));
  record.lens_probabilities.resize(static_cast<size_t>(rows * top));
  for (std::int64_t first = 0; first < rows; first += kLensRows) {
    const std::int64_t count = std::min(kLensRows, rows - first);
    const float* seen = logits(context, states.data() + first * hidden, count, "the logits of the lens");
    ops::top_tokens(context, {seen, count, config().vocabulary, top, record.lens_tokens.data() + first * top,
                              record.lens_probabilities.data() + first * top});
  }
}

std::vector<float> Model::head_contributions(const Context& context, std::int64_t layer,
                                             std::span<const float> head_out) {
  const std::int64_t heads = config().heads, dim = config().head_dim, width = heads * dim;
  BUOY_CHECK(std::ssize(head_out) % width == 0);
  const Weight& weight = loaded_->weights.layers.at(static_cast<size_t>(layer)).attention_out;
  BUOY_CHECK(!weight.empty());
  // A row for each head, with the others silent.
  const std::int64_t pieces = std::ssize(head_out) / dim;
  std::vector<float> alone(static_cast<size_t>(pieces * width), 0.0f);
  for (std::int64_t i = 0; i < pieces; ++i)
    std::copy_n(head_out.data() + i * dim, dim, alone.data() + i * width + i % heads * dim);
  std::vector<float> out(static_cast<size_t>(pieces * config().hidden));
  linear(context, alone.data(), pieces, weight, {}, out.data());
  return out;
}

StreamRows Model::stream_rows(const RowsAfterAttention& rows, float* values) const {
  return {values, 0, rows.count, config().hidden, rows.packed};
}

}  // namespace buoy::model
