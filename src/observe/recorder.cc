#include "observe/recorder.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "trace/schema.h"

namespace buoy::observe {
namespace {

enum Group : std::uint8_t { kPrompt, kRevealed, kMasked };
constexpr std::int64_t kGroups = 3;

std::int64_t product(const std::vector<std::int64_t>& shape) {
  std::int64_t count = 1;
  for (const auto extent : shape) count *= extent;
  return count;
}

size_t index_of(const std::vector<std::int64_t>& sorted, std::int64_t value) {
  return static_cast<size_t>(std::lower_bound(sorted.begin(), sorted.end(), value) - sorted.begin());
}

std::vector<std::int32_t> to_int32(const std::vector<std::int64_t>& values) {
  return {values.begin(), values.end()};
}

}  // namespace

std::vector<std::string> group_names() {
  return {"prompt", "answer, revealed", "answer, masked"};
}

Recorder::Recorder(const Plan& plan, const Subject& subject)
    : plan_(plan),
      subject_(subject),
      steps_(plan.steps.below(subject.steps)),
      layers_(plan.layers.below(subject.layers)),
      tokens_by_step_(steps_.size() * static_cast<size_t>(subject.tokens), 0),
      group_sizes_(steps_.size() * kGroups, 0) {
  for (std::int64_t p = subject.prompt_length; p < subject.tokens; ++p) {
    rows_.push_back(static_cast<std::int32_t>(std::max<std::int64_t>(0, p - subject.prediction_offset)));
  }
}

probe::LayerRequest Recorder::request(const probe::Address& address, const probe::LayerExtent& extent) {
  probe::LayerRequest r;
  if (address.branch != 0 || !plan_.steps.contains(address.step) || !plan_.layers.contains(address.layer))
    return r;
  BUOY_CHECK(extent.query_rows == subject_.tokens && extent.key_rows == subject_.tokens);
  const size_t step = index_of(steps_, address.step);
  std::copy(extent.tokens.begin(), extent.tokens.end(),
            tokens_by_step_.begin() + static_cast<std::ptrdiff_t>(step) * subject_.tokens);
  r.groups = kGroups;
  std::int32_t* sizes = group_sizes_.data() + step * kGroups;
  std::fill_n(sizes, kGroups, 0);
  for (std::int64_t p = 0; p < subject_.tokens; ++p) {
    const bool masked = extent.tokens[static_cast<size_t>(p)] == subject_.mask_token;
    const Group group = p < subject_.prompt_length ? kPrompt : masked ? kMasked : kRevealed;
    r.group_of_row.push_back(group);
    ++sizes[group];
  }
  r.received = plan_.received;
  r.entropy = plan_.entropy;
  r.log_sum_exp = plan_.log_sum_exp;
  r.first_share = plan_.first_share;
  if (plan_.rows || plan_.top) r.rows = rows_;
  r.row_weights = plan_.rows;
  r.top = plan_.top ? plan_.top_count : 0;
  r.qk_after = r.qk_before = plan_.qk;
  r.norms = plan_.norms;
  r.dense = plan_.dense;
  return r;
}

void Recorder::put(const std::string& name, const std::vector<std::int64_t>& cell, size_t at,
                   const std::vector<float>& values) {
  if (values.empty()) return;
  BUOY_CHECK(static_cast<std::int64_t>(values.size()) == product(cell));
  Stack& stack = stacks_[name];
  if (stack.values.empty()) {
    stack.cell = cell;
    stack.values.assign(steps_.size() * layers_.size() * values.size(), 0.0f);
  }
  std::copy(values.begin(), values.end(),
            stack.values.begin() + static_cast<std::ptrdiff_t>(at * values.size()));
}

void Recorder::take(const probe::Address& address, probe::LayerRecord&& record) {
  const size_t at = index_of(steps_, address.step) * layers_.size() + index_of(layers_, address.layer);
  const std::int64_t T = subject_.tokens, H = subject_.heads, V = subject_.kv_heads,
                     R = static_cast<std::int64_t>(rows_.size());
  const auto put_named = [&](std::string_view name, const std::vector<std::int64_t>& cell,
                             const std::vector<float>& values) { put(std::string(name), cell, at, values); };
  put_named(trace::kReceived, {kGroups, H, T}, record.received);
  put_named(trace::kEntropy, {H, T}, record.entropy);
  put_named(trace::kLogSumExp, {H, T}, record.log_sum_exp);
  put_named(trace::kFirstShare, {H, T}, record.first_share);
  put_named(trace::kRowWeights, {R, H, T}, record.row_weights);
  put_named(trace::kTopWeights, {R, H, plan_.top_count}, record.top_weights);
  put_named(trace::kQkAfterDot, {H, T}, record.qk_after.dot);
  put_named(trace::kQkAfterCosine, {H, T}, record.qk_after.cosine);
  put_named(trace::kQkAfterNormProduct, {H, T}, record.qk_after.norm_product);
  put_named(trace::kQkAfterSelfDot, {H, T}, record.qk_after.self_dot);
  put_named(trace::kQkBeforeDot, {H, T}, record.qk_before.dot);
  put_named(trace::kQkBeforeCosine, {H, T}, record.qk_before.cosine);
  put_named(trace::kQkBeforeNormProduct, {H, T}, record.qk_before.norm_product);
  put_named(trace::kQkBeforeSelfDot, {H, T}, record.qk_before.self_dot);
  put_named(trace::kQueryNorm, {H, T}, record.query_norm);
  put_named(trace::kKeyNorm, {V, T}, record.key_norm);
  put_named(trace::kValueNorm, {V, T}, record.value_norm);
  if (!record.top_keys.empty()) {
    top_keys_.resize(steps_.size() * layers_.size() * record.top_keys.size(), -1);
    std::copy(record.top_keys.begin(), record.top_keys.end(),
              top_keys_.begin() + static_cast<std::ptrdiff_t>(at * record.top_keys.size()));
  }
  if (!record.dense.empty()) {
    dense_.push_back(
        trace::float_array(trace::dense_name(address.step, address.layer), {H, T, T}, record.dense));
  }
}

std::vector<trace::Array> Recorder::arrays() {
  const auto S = static_cast<std::int64_t>(steps_.size()), L = static_cast<std::int64_t>(layers_.size());
  std::vector<trace::Array> out;
  out.push_back(trace::integer_array(trace::kSteps, {S}, to_int32(steps_)));
  out.push_back(trace::integer_array(trace::kLayers, {L}, to_int32(layers_)));
  out.push_back(trace::integer_array(trace::kTokensByStep, {S, subject_.tokens}, tokens_by_step_));
  out.push_back(trace::integer_array(trace::kGroupSizes, {S, kGroups}, group_sizes_));
  if (plan_.rows || plan_.top) {
    out.push_back(
        trace::integer_array(trace::kRowPositions, {static_cast<std::int64_t>(rows_.size())}, rows_));
  }
  for (auto& [name, stack] : stacks_) {
    std::vector<std::int64_t> shape = {S, L};
    shape.insert(shape.end(), stack.cell.begin(), stack.cell.end());
    out.push_back(trace::float_array(name, shape, stack.values));
    stack.values = {};
  }
  if (!top_keys_.empty()) {
    const auto R = static_cast<std::int64_t>(rows_.size());
    out.push_back(
        trace::integer_array(trace::kTopKeys, {S, L, R, subject_.heads, plan_.top_count}, top_keys_));
  }
  std::move(dense_.begin(), dense_.end(), std::back_inserter(out));
  stacks_.clear();
  dense_.clear();
  return out;
}

std::uint64_t Recorder::expected_bytes() const {
  const auto T = static_cast<std::uint64_t>(subject_.tokens), H = static_cast<std::uint64_t>(subject_.heads);
  const auto V = static_cast<std::uint64_t>(subject_.kv_heads), R = static_cast<std::uint64_t>(rows_.size());
  std::uint64_t cell = 0;
  if (plan_.received) cell += kGroups * H * T;
  cell += (std::uint64_t{plan_.entropy} + plan_.log_sum_exp + plan_.first_share) * H * T;
  if (plan_.rows) cell += R * H * T;
  if (plan_.top) cell += 2 * R * H * static_cast<std::uint64_t>(plan_.top_count);
  if (plan_.qk) cell += 8 * H * T;
  if (plan_.norms) cell += (H + 2 * V) * T;
  if (plan_.dense) cell += H * T * T;
  return 4 * (cell * steps_.size() * layers_.size() + steps_.size() * T);
}

}  // namespace buoy::observe
