#include "buoy/analysis/flow/sample_flow.h"

#include <cmath>

#include "buoy/analysis/core/extent.h"
#include "buoy/stats/not_a_number.h"
#include "buoy/trace/schema.h"

namespace buoy::analysis {
namespace {

// Mass from the query groups to the regions at one forward and layer.
class GroupMass {
 public:
  GroupMass(const LayerView& layer, const SampleRegions& regions, bool from_mass)
      : sizes_(layer.forward.group_sizes), regions_(regions), heads_(layer.sample.heads) {
    const std::int64_t R = regions_.count(), rows = std::ssize(sizes_) * heads_;
    values_.assign(static_cast<size_t>(rows * R), 0.0);
    const auto given = layer.floats(from_mass ? trace::kMass : trace::kReceived);
    const auto width = from_mass ? std::ssize(layer.sample.region_names) : layer.sample.tokens;
    for (std::int64_t row = 0; row < rows; ++row) {
      const float* from = given.data() + row * width;
      double* to = values_.data() + row * R;
      if (from_mass) {
        for (std::int64_t r = 0; r < R; ++r) to[r] = from[regions_.columns[static_cast<size_t>(r)]];
      } else {
        for (std::int64_t j = 0; j < width; ++j) {
          const auto region = regions_.region_of_token[static_cast<size_t>(j)];
          if (region >= 0) to[region] += from[j];
        }
      }
    }
  }

  // Shares of the attention of some query groups, [heads, regions]; NaN when they have no queries.
  std::vector<double> shares(const std::vector<std::int64_t>& groups) const {
    double queries = 0;
    for (const auto g : groups) queries += sizes_[static_cast<size_t>(g)];
    const std::int64_t H = heads_, R = regions_.count();
    std::vector<double> out(static_cast<size_t>(H * R), queries > 0 ? 0.0 : stats::kNan);
    if (queries <= 0) return out;
    for (const auto g : groups) {
      for (std::int64_t h = 0; h < H; ++h) {
        for (std::int64_t r = 0; r < R; ++r) out[static_cast<size_t>(h * R + r)] += at(g, h)[r] / queries;
      }
    }
    return out;
  }

  RegionMatrix mean_over_heads() const {
    const std::int64_t R = regions_.count(), H = heads_;
    RegionMatrix out(R);
    for (std::int64_t a = 0; a < R; ++a) {
      for (const auto g : regions_.groups[static_cast<size_t>(a)]) {
        for (std::int64_t h = 0; h < H; ++h) {
          for (std::int64_t b = 0; b < R; ++b) out.at(a, b) += at(g, h)[b] / static_cast<double>(H);
        }
      }
    }
    return out;
  }

 private:
  const double* at(std::int64_t group, std::int64_t head) const {
    return values_.data() + (group * heads_ + head) * regions_.count();
  }

  std::span<const std::int32_t> sizes_;  // [groups]
  const SampleRegions& regions_;
  std::int64_t heads_;
  std::vector<double> values_;  // [groups, heads, regions]
};

// What the answer's queries that are masked, or those that are not, give to each region if attention is even;
// NaN without such queries.
std::vector<double> even_shares(const LayerView& layer, const SampleRegions& regions, bool masked) {
  std::vector<double> seen(static_cast<size_t>(regions.count()), 0.0), out(seen);
  const auto tokens = std::ssize(regions.region_of_token);
  std::int64_t keys = 0;
  double queries = 0;
  for (std::int64_t i = 0; i < tokens; ++i) {
    for (; keys < layer.sample.mask.keys_of(i, tokens); ++keys) {
      const auto region = regions.region_of_token[static_cast<size_t>(keys)];
      if (region >= 0) seen[static_cast<size_t>(region)] += 1;
    }
    const auto at = static_cast<size_t>(i);
    if (regions.region_of_token[at] != regions.answer || (layer.forward.masked[at] != 0) != masked) continue;
    for (size_t r = 0; r < out.size(); ++r) out[r] += seen[r] / static_cast<double>(keys);
    queries += 1;
  }
  for (double& share : out) share = queries > 0 ? share / queries : stats::kNan;
  return out;
}

std::vector<double> head_mean(const std::vector<double>& by_head, std::int64_t heads) {
  const size_t regions = by_head.size() / static_cast<size_t>(heads);
  std::vector<double> out(regions, 0.0);
  for (size_t i = 0; i < by_head.size(); ++i) out[i % regions] += by_head[i] / static_cast<double>(heads);
  return out;
}

// Adds up steps in which the values are numbers.
struct StepMean {
  std::vector<double> sum;
  double steps = 0;

  void add(const std::vector<double>& values) {
    if (sum.empty()) sum.assign(values.size(), 0.0);
    if (values.empty() || std::isnan(values[0])) return;
    for (size_t i = 0; i < values.size(); ++i) sum[i] += values[i];
    steps += 1;
  }
  std::vector<double> mean() const {
    std::vector<double> out = sum;
    for (double& value : out) value = steps > 0 ? value / steps : stats::kNan;
    return out;
  }
};

}  // namespace

struct FlowSample::LayerSums {
  StepMean all, revealed, masked, by_head;
};

FlowSample::FlowSample(const SampleFacts& sample) : from_mass_(sample.has(trace::kMass)) {
  flow_.regions = find_regions(sample);
  const SampleRegions& regions = flow_.regions;
  flow_.uniform_mass = uniform_region_mass(regions.region_of_token, regions.count(), sample.mask);
  if (regions.answer < 0) return;
  for (std::int64_t r = 0; r < regions.count(); ++r)
    flow_.uniform.push_back(flow_.uniform_mass.at(regions.answer, r) /
                            regions.lengths[static_cast<size_t>(regions.answer)]);
  flow_.uniform_revealed = flow_.uniform_masked = flow_.uniform;
  nulls_by_state_ = sample.mask.causal && sample.masked_diffusion;
  if (nulls_by_state_) nulls_ = std::make_unique<LayerSums>();
  const std::int64_t S = sample.forward_count(), L = sample.layer_count(), H = sample.heads;
  require_shape(sample, trace::kGroupSizes, {S, -1});
  const std::int64_t groups = sample.shape(trace::kGroupSizes)[1];
  if (from_mass_ || !sample.has(trace::kReceived)) {
    require_shape(sample, trace::kMass, {S, L, groups, H, std::ssize(sample.region_names)});
  } else {
    require_shape(sample, trace::kReceived, {S, L, groups, H, sample.tokens});
  }
  sums_.resize(static_cast<size_t>(L));
  flow_.last.resize(static_cast<size_t>(L));
  flow_.steps.assign(static_cast<size_t>(sample.step_count()),
                     std::vector<RegionMatrix>(static_cast<size_t>(L), RegionMatrix(0)));
  if (sample.has_final_row()) flow_.final_row.assign(static_cast<size_t>(L), RegionMatrix(0));
  flow_.denoises =
      sample.masked_diffusion && !(sample.has_final_row() && sample.final_index() < sample.step_count());
}

FlowSample::~FlowSample() = default;

void FlowSample::take(const LayerView& layer) {
  const SampleRegions& regions = flow_.regions;
  if (regions.answer < 0) return;
  const auto l = static_cast<size_t>(layer.l), s = static_cast<size_t>(layer.s());
  const GroupMass mass(layer, regions, from_mass_);
  const bool sees_final = layer.forward.is_final(layer.sample) && layer.sample.has_final_row();
  if (sees_final) flow_.final_row[l] = mass.mean_over_heads();
  if (!layer.forward.is_step) return;
  if (nulls_by_state_ && l == 0) add_nulls(layer);
  const std::int64_t H = layer.sample.heads;
  const auto one = [](std::int64_t group) {
    return group < 0 ? std::vector<std::int64_t>{} : std::vector<std::int64_t>{group};
  };
  AnswerFlow now;
  now.by_head = mass.shares(regions.groups[static_cast<size_t>(regions.answer)]);
  now.all = head_mean(now.by_head, H);
  now.revealed = head_mean(mass.shares(one(regions.revealed)), H);
  now.masked = head_mean(mass.shares(one(regions.masked)), H);
  LayerSums& sum = sums_[l];
  sum.all.add(now.all), sum.revealed.add(now.revealed), sum.masked.add(now.masked);
  sum.by_head.add(now.by_head);
  flow_.steps[s][l] = mass.mean_over_heads();
  if (layer.s() + 1 == layer.sample.step_count()) flow_.last[l] = std::move(now);
}

// The same in every layer, so one of them is asked.
void FlowSample::add_nulls(const LayerView& layer) {
  nulls_->revealed.add(even_shares(layer, flow_.regions, false));
  nulls_->masked.add(even_shares(layer, flow_.regions, true));
}

SampleFlow FlowSample::flow() const {
  SampleFlow out = flow_;
  if (nulls_by_state_) {
    out.uniform_revealed = nulls_->revealed.mean();
    out.uniform_masked = nulls_->masked.mean();
  }
  for (const auto& sum : sums_)
    out.mean.push_back({sum.all.mean(), sum.revealed.mean(), sum.masked.mean(), sum.by_head.mean()});
  return out;
}

}  // namespace buoy::analysis
