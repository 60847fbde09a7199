#include "buoy/observe/recorder.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "buoy/base/error.h"
#include "buoy/observe/region_mass.h"
#include "buoy/trace/schema.h"

namespace buoy::observe {
namespace {

std::int64_t product(const std::vector<std::int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

size_t index_of(const std::vector<std::int64_t>& sorted, std::int64_t value) {
  return static_cast<size_t>(std::lower_bound(sorted.begin(), sorted.end(), value) - sorted.begin());
}

std::vector<std::int32_t> to_int32(const std::vector<std::int64_t>& values) {
  return {values.begin(), values.end()};
}

}  // namespace

Recorder::Recorder(const Plan& plan, const Subject& subject)
    : plan_(plan),
      subject_(subject),
      steps_(plan.steps.below(subject.steps)),
      layers_(plan.layers.below(subject.layers)),
      tokens_by_step_(steps_.size() * static_cast<size_t>(subject.tokens), 0),
      group_sizes_(steps_.size() * static_cast<size_t>(subject.groups.count()), 0),
      taken_(steps_.size() * layers_.size(), false) {
  for (std::int64_t p = subject.prompt_length; p < subject.tokens; ++p) {
    rows_.push_back(static_cast<std::int32_t>(std::max<std::int64_t>(0, p - subject.prediction_offset)));
  }
  // A prompt of no tokens makes positions 0 and 1 share row 0 under a prediction offset.
  rows_.erase(std::unique(rows_.begin(), rows_.end()), rows_.end());
}

std::vector<Recorder::Cell> Recorder::cells() const {
  const std::int64_t T = subject_.tokens, H = subject_.heads, V = subject_.kv_heads,
                     G = subject_.groups.count(), R = static_cast<std::int64_t>(rows_.size()),
                     C = static_cast<std::int64_t>(subject_.regions.names.size());
  std::vector<Cell> cells;
  const auto want = [&](bool wanted, std::string_view name, Shape shape) {
    if (wanted) cells.push_back({name, std::move(shape)});
  };
  want(plan_.received, trace::kReceived, {G, H, T});
  want(plan_.mass && C > 0, trace::kMass, {G, H, C});
  want(plan_.contribution, trace::kContribution, {H, T});
  want(plan_.entropy, trace::kEntropy, {H, T});
  want(plan_.log_sum_exp, trace::kLogSumExp, {H, T});
  want(plan_.first_share, trace::kFirstShare, {H, T});
  want(plan_.rows, trace::kRowWeights, {R, H, T});
  want(plan_.row_mass && C > 0, trace::kRowMass, {R, H, C});
  want(plan_.row_mass && !subject_.regions.evidence.empty(), trace::kEvidenceMass, {R, H});
  want(plan_.top, trace::kTopWeights, {R, H, plan_.top_count});
  for (const auto name :
       {trace::kQkAfterDot, trace::kQkAfterCosine, trace::kQkAfterNormProduct, trace::kQkAfterSelfDot,
        trace::kQkBeforeDot, trace::kQkBeforeCosine, trace::kQkBeforeNormProduct, trace::kQkBeforeSelfDot}) {
    want(plan_.qk, name, {H, T});
  }
  want(plan_.norms, trace::kQueryNorm, {H, T});
  want(plan_.norms, trace::kKeyNorm, {V, T});
  want(plan_.norms, trace::kValueNorm, {V, T});
  return cells;
}

std::vector<Recorder::Cell> Recorder::large_cells() const {
  const std::int64_t T = subject_.tokens, D = subject_.head_dim;
  std::vector<Cell> cells;
  if (plan_.dense) cells.push_back({"dense", {subject_.heads, T, T}});
  if (plan_.dense_mean) cells.push_back({"dense_mean", {T, T}});
  if (plan_.states) {
    cells.push_back({"queries", {T, subject_.heads, D}});
    cells.push_back({"keys", {T, subject_.kv_heads, D}});
    cells.push_back({"values", {T, subject_.kv_heads, D}});
  }
  return cells;
}

probe::LayerRequest Recorder::request(const probe::Address& address, const probe::LayerExtent& extent) {
  probe::LayerRequest r;
  if (address.branch != 0 || !plan_.steps.contains(address.step) || !plan_.layers.contains(address.layer))
    return r;
  BUOY_CHECK(extent.query_rows == subject_.tokens && extent.key_rows == subject_.tokens);
  const size_t step = index_of(steps_, address.step), groups = static_cast<size_t>(subject_.groups.count());
  std::copy(extent.tokens.begin(), extent.tokens.end(),
            tokens_by_step_.begin() + static_cast<std::ptrdiff_t>(step) * subject_.tokens);
  r.groups = subject_.groups.count();
  r.group_of_row = subject_.groups.assign({extent.tokens, subject_.prompt_length, subject_.mask_token});
  std::int32_t* sizes = group_sizes_.data() + step * groups;
  std::fill_n(sizes, groups, 0);
  for (const auto group : r.group_of_row) {
    if (group < groups) ++sizes[group];
  }
  r.received = plan_.received || plan_.mass || plan_.contribution;
  r.entropy = plan_.entropy;
  r.log_sum_exp = plan_.log_sum_exp;
  r.first_share = plan_.first_share;
  if (plan_.rows || plan_.row_mass || plan_.top) r.rows = rows_;
  r.row_weights = plan_.rows || plan_.row_mass;
  r.top = plan_.top ? plan_.top_count : 0;
  r.qk_after = r.qk_before = plan_.qk;
  r.norms = plan_.norms || plan_.contribution;
  r.dense = plan_.dense;
  r.dense_mean = plan_.dense_mean;
  r.states = plan_.states;
  return r;
}

void Recorder::put(std::string_view name, size_t at, const std::vector<float>& values) {
  const auto stack = stacks_.find(name);
  if (stack == stacks_.end()) return;
  BUOY_CHECK(static_cast<std::int64_t>(values.size()) == product(stack->second.cell));
  std::copy(values.begin(), values.end(),
            stack->second.values.begin() + static_cast<std::ptrdiff_t>(at * values.size()));
}

void Recorder::take(const probe::Address& address, probe::LayerRecord&& record) {
  if (stacks_.empty()) {
    for (auto& [name, shape] : cells()) {
      const auto count = static_cast<size_t>(product(shape)) * taken_.size();
      stacks_[std::string(name)] = {std::move(shape), std::vector<float>(count, 0.0f)};
    }
  }
  const size_t at = index_of(steps_, address.step) * layers_.size() + index_of(layers_, address.layer);
  BUOY_CHECK(!taken_[at]);
  taken_[at] = true;
  const Regions& regions = subject_.regions;
  const auto region_count = static_cast<std::int64_t>(regions.names.size());
  put(trace::kReceived, at, record.received);
  if (plan_.mass) put(trace::kMass, at, mass_of_regions(record.received, regions.of_token, region_count));
  if (plan_.contribution) {
    put(trace::kContribution, at,
        contribution({record.received, record.value_norm, subject_.groups.count(), subject_.heads,
                      subject_.kv_heads, subject_.tokens}));
  }
  put(trace::kEntropy, at, record.entropy);
  put(trace::kLogSumExp, at, record.log_sum_exp);
  put(trace::kFirstShare, at, record.first_share);
  put(trace::kRowWeights, at, record.row_weights);
  if (plan_.row_mass) {
    put(trace::kRowMass, at, mass_of_regions(record.row_weights, regions.of_token, region_count));
    if (!regions.evidence.empty())
      put(trace::kEvidenceMass, at, mass_of_flagged(record.row_weights, regions.evidence));
  }
  put(trace::kTopWeights, at, record.top_weights);
  put(trace::kQkAfterDot, at, record.qk_after.dot);
  put(trace::kQkAfterCosine, at, record.qk_after.cosine);
  put(trace::kQkAfterNormProduct, at, record.qk_after.norm_product);
  put(trace::kQkAfterSelfDot, at, record.qk_after.self_dot);
  put(trace::kQkBeforeDot, at, record.qk_before.dot);
  put(trace::kQkBeforeCosine, at, record.qk_before.cosine);
  put(trace::kQkBeforeNormProduct, at, record.qk_before.norm_product);
  put(trace::kQkBeforeSelfDot, at, record.qk_before.self_dot);
  put(trace::kQueryNorm, at, record.query_norm);
  put(trace::kKeyNorm, at, record.key_norm);
  put(trace::kValueNorm, at, record.value_norm);
  if (plan_.top) {
    top_keys_.resize(taken_.size() * record.top_keys.size(), -1);
    std::copy(record.top_keys.begin(), record.top_keys.end(),
              top_keys_.begin() + static_cast<std::ptrdiff_t>(at * record.top_keys.size()));
  }
  take_large(address, record);
}

void Recorder::take_large(const probe::Address& address, const probe::LayerRecord& record) {
  const std::int64_t T = subject_.tokens, H = subject_.heads, V = subject_.kv_heads, D = subject_.head_dim;
  const std::int64_t s = address.step, l = address.layer;
  if (plan_.dense) large_.push_back(trace::float_array(trace::dense_name(s, l), {H, T, T}, record.dense));
  if (plan_.dense_mean)
    large_.push_back(trace::float_array(trace::dense_mean_name(s, l), {T, T}, record.dense_mean));
  if (!plan_.states) return;
  const auto state = [&](const std::string& name, std::int64_t heads, const float* values) {
    large_.push_back(
        trace::float_array(name, {T, heads, D}, std::span(values, static_cast<size_t>(T * heads * D))));
  };
  state(trace::queries_name(s, l), H, record.states.queries);
  state(trace::keys_name(s, l), V, record.states.keys);
  state(trace::values_name(s, l), V, record.states.values);
}

std::vector<trace::Array> Recorder::arrays() {
  BUOY_CHECK(std::find(taken_.begin(), taken_.end(), false) == taken_.end());
  const auto S = static_cast<std::int64_t>(steps_.size()), L = static_cast<std::int64_t>(layers_.size()),
             R = static_cast<std::int64_t>(rows_.size());
  std::vector<trace::Array> out;
  out.push_back(trace::integer_array(trace::kSteps, {S}, to_int32(steps_)));
  out.push_back(trace::integer_array(trace::kLayers, {L}, to_int32(layers_)));
  out.push_back(trace::integer_array(trace::kTokensByStep, {S, subject_.tokens}, tokens_by_step_));
  out.push_back(trace::integer_array(trace::kGroupSizes, {S, subject_.groups.count()}, group_sizes_));
  if (plan_.rows || plan_.row_mass || plan_.top)
    out.push_back(trace::integer_array(trace::kRowPositions, {R}, rows_));
  for (auto& [name, stack] : stacks_) {
    Shape shape = {S, L};
    shape.insert(shape.end(), stack.cell.begin(), stack.cell.end());
    out.push_back(trace::float_array(name, shape, stack.values));
    stack.values = {};
  }
  if (plan_.top) {
    out.push_back(
        trace::integer_array(trace::kTopKeys, {S, L, R, subject_.heads, plan_.top_count}, top_keys_));
  }
  std::move(large_.begin(), large_.end(), std::back_inserter(out));
  stacks_.clear();
  large_.clear();
  taken_.assign(taken_.size(), false);
  return out;
}

Recorder::Bytes Recorder::expected_bytes() const {
  std::int64_t each = 0, large = 0;
  for (const auto& cell : cells()) each += product(cell.shape);
  if (plan_.top) each += static_cast<std::int64_t>(rows_.size()) * subject_.heads * plan_.top_count;
  for (const auto& cell : large_cells()) large += product(cell.shape);
  const auto addresses = static_cast<std::int64_t>(taken_.size());
  const std::int64_t rows = static_cast<std::int64_t>(steps_.size()) * subject_.tokens;
  return {static_cast<std::uint64_t>(4 * ((each + large) * addresses + rows)),
          static_cast<std::uint64_t>(4 * large * addresses)};
}

}  // namespace buoy::observe
