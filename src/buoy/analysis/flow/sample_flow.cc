#include "buoy/analysis/flow/sample_flow.h"

#include <cmath>

#include "buoy/analysis/core/extent.h"
#include "buoy/stats/not_a_number.h"
#include "buoy/trace/schema.h"

namespace buoy::analysis {
namespace {

// Mass from the query groups to the regions at one step and layer.
class GroupMass {
 public:
  GroupMass(const ObservedSample& sample, const SampleRegions& regions)
      : sample_(sample), regions_(regions), from_mass_(sample.stored().has(trace::kMass)) {
    const std::int64_t S = sample.forward_count(), L = sample.layer_count(), H = sample.heads;
    require_shape(sample, trace::kGroupSizes, {S, -1});
    groups_ = sample.stored().shape(trace::kGroupSizes)[1];
    if (from_mass_ || !sample.stored().has(trace::kReceived)) {
      const auto names = static_cast<std::int64_t>(sample.region_names.size());
      require_shape(sample, trace::kMass, {S, L, groups_, H, names});
    } else {
      require_shape(sample, trace::kReceived, {S, L, groups_, H, sample.tokens});
    }
    sizes_ = sample.stored().integers(trace::kGroupSizes);
  }

  void read(std::int64_t s, std::int64_t l) {
    const std::int64_t R = regions_.count(), rows = groups_ * sample_.heads;
    values_.assign(static_cast<size_t>(rows * R), 0.0);
    const auto stored = sample_.stored().floats_at(from_mass_ ? trace::kMass : trace::kReceived, {s, l});
    const auto width = from_mass_ ? static_cast<std::int64_t>(sample_.region_names.size()) : sample_.tokens;
    for (std::int64_t row = 0; row < rows; ++row) {
      const float* from = stored.data() + row * width;
      double* to = values_.data() + row * R;
      if (from_mass_) {
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
  std::vector<double> shares(std::int64_t s, const std::vector<std::int64_t>& groups) const {
    double queries = 0;
    for (const auto g : groups) queries += size(s, g);
    const std::int64_t H = sample_.heads, R = regions_.count();
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
    const std::int64_t R = regions_.count(), H = sample_.heads;
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
  double size(std::int64_t s, std::int64_t g) const { return sizes_[static_cast<size_t>(s * groups_ + g)]; }
  const double* at(std::int64_t group, std::int64_t head) const {
    return values_.data() + (group * sample_.heads + head) * regions_.count();
  }

  const ObservedSample& sample_;
  const SampleRegions& regions_;
  bool from_mass_;
  std::int64_t groups_ = 0;
  std::vector<std::int32_t> sizes_;  // [steps, groups]
  std::vector<double> values_;       // [groups, heads, regions]
};

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

struct LayerSums {
  StepMean all, revealed, masked, by_head;
};

}  // namespace

SampleFlow flow_of_sample(const ObservedSample& sample) {
  SampleFlow flow;
  flow.regions = find_regions(sample);
  const SampleRegions& regions = flow.regions;
  const std::int64_t S = sample.step_count(), L = sample.layer_count(), H = sample.heads;
  flow.uniform_mass = uniform_region_mass(regions.region_of_token, regions.count(), sample.causal);
  if (regions.answer < 0) return flow;
  for (std::int64_t r = 0; r < regions.count(); ++r)
    flow.uniform.push_back(flow.uniform_mass.at(regions.answer, r) /
                           regions.lengths[static_cast<size_t>(regions.answer)]);
  GroupMass mass(sample, regions);
  std::vector<LayerSums> sums(static_cast<size_t>(L));
  flow.last.resize(static_cast<size_t>(L));
  flow.steps.resize(static_cast<size_t>(S));
  const auto one = [](std::int64_t group) {
    return group < 0 ? std::vector<std::int64_t>{} : std::vector<std::int64_t>{group};
  };
  for (std::int64_t s = 0; s < S; ++s) {
    for (std::int64_t l = 0; l < L; ++l) {
      mass.read(s, l);
      AnswerFlow now;
      now.by_head = mass.shares(s, regions.groups[static_cast<size_t>(regions.answer)]);
      now.all = head_mean(now.by_head, H);
      now.revealed = head_mean(mass.shares(s, one(regions.revealed)), H);
      now.masked = head_mean(mass.shares(s, one(regions.masked)), H);
      LayerSums& sum = sums[static_cast<size_t>(l)];
      sum.all.add(now.all), sum.revealed.add(now.revealed), sum.masked.add(now.masked);
      sum.by_head.add(now.by_head);
      flow.steps[static_cast<size_t>(s)].push_back(mass.mean_over_heads());
      if (s + 1 == S) flow.last[static_cast<size_t>(l)] = std::move(now);
    }
  }
  flow.denoises = sample.masked_diffusion && !(sample.has_final_row() && sample.final_index() < S);
  if (sample.has_final_row()) {
    for (std::int64_t l = 0; l < L; ++l) {
      mass.read(sample.final_index(), l);
      flow.final_row.push_back(mass.mean_over_heads());
    }
  }
  for (const auto& sum : sums)
    flow.mean.push_back({sum.all.mean(), sum.revealed.mean(), sum.masked.mean(), sum.by_head.mean()});
  return flow;
}

}  // namespace buoy::analysis
