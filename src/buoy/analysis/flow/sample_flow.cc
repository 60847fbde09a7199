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
    const auto of_token =
        from_mass ? std::vector<std::int32_t>{}
                  : regions_at(regions, layer.sample, layer.forward.answer_end, layer.forward.reach).of_token;
    const auto width = from_mass ? std::ssize(layer.sample.region_names) : layer.sample.tokens;
    for (std::int64_t row = 0; row < rows; ++row) {
      const float* from = given.data() + row * width;
      double* to = values_.data() + row * R;
      if (from_mass) {
        for (std::int64_t r = 0; r < R; ++r) to[r] = from[regions_.columns[static_cast<size_t>(r)]];
      } else {
        for (std::int64_t j = 0; j < width; ++j) {
          const auto region = of_token[static_cast<size_t>(j)];
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

SampleFlow begin_flow(const SampleFacts& sample) {
  SampleFlow flow;
  flow.regions = find_regions(sample);
  return flow;
}

// The rows of the query groups of the answer at a step.
std::vector<AnswerRow> group_rows(const ObservedSample& sample, std::int64_t s) {
  std::vector<AnswerRow> out;
  const trace::AnswerSpan span = group_span(sample, answer_end_at(sample, s));
  const Reach reach = sample.reach_at(s);
  for (std::int64_t i = reach.first; i < reach.end; ++i) {
    if (trace::kind_of_row(i, span) == trace::RowKind::kAnswer)
      out.push_back({i, sample.masked_at(s, i + span.offset)});
  }
  return out;
}

std::vector<AnswerRow> in_state(const std::vector<AnswerRow>& rows, bool masked) {
  std::vector<AnswerRow> out;
  for (const auto& row : rows) {
    if (row.masked == masked) out.push_back(row);
  }
  return out;
}

}  // namespace

struct FlowSample::LayerSums {
  StepMean all, revealed, masked, by_head;
};

FlowSample::FlowSample(const SampleFacts& sample)
    : flow_(begin_flow(sample)),
      from_mass_(sample.has(trace::kMass)),
      published_(sample, flow_.regions),
      words_(sample, flow_.regions) {
  if (flow_.regions.answer < 0) return;
  const std::int64_t S = sample.observed_count(), L = sample.layer_count(), H = sample.heads;
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
  if (published_.known()) flow_.published = flow_.final_row;
  // A step of a block has no rows of what precedes it: what went through these is in the finished row alone.
  flow_.denoises = sample.masked_diffusion && !sample.blocks &&
                   !(sample.has_final_row() && sample.final_index() < sample.step_count());
}

FlowSample::~FlowSample() = default;

void FlowSample::take(const LayerView& layer) {
  const SampleRegions& regions = flow_.regions;
  if (regions.answer < 0) return;
  const auto l = static_cast<size_t>(layer.l), s = static_cast<size_t>(layer.s());
  const GroupMass mass(layer, regions, from_mass_);
  const bool sees_final = layer.forward.is_final(layer.sample) && layer.sample.has_final_row();
  if (sees_final) flow_.final_row[l] = mass.mean_over_heads();
  if (sees_final && published_.known())
    flow_.published[l] = published_.mass(flow_.final_row[l], layer, regions);
  if (!layer.forward.is_step) return;
  const std::int64_t H = layer.sample.heads;
  const auto one = [](std::int64_t group) {
    return group < 0 ? std::vector<std::int64_t>{} : std::vector<std::int64_t>{group};
  };
  flow_.steps[s][l] = mass.mean_over_heads();
  if (words_.kept()) return words_.take(layer, regions);
  AnswerFlow now;
  now.by_head = mass.shares(regions.groups[static_cast<size_t>(regions.answer)]);
  now.all = head_mean(now.by_head, H);
  now.revealed = head_mean(mass.shares(one(regions.revealed)), H);
  now.masked = head_mean(mass.shares(one(regions.masked)), H);
  LayerSums& sum = sums_[l];
  sum.all.add(now.all), sum.revealed.add(now.revealed), sum.masked.add(now.masked);
  sum.by_head.add(now.by_head);
  if (layer.s() + 1 == layer.sample.step_count()) flow_.last[l] = std::move(now);
}

SampleFlow FlowSample::flow(const ObservedSample& sample) const {
  SampleFlow out = flow_;
  if (out.regions.answer < 0) return out;
  for (std::int64_t s = 0; s < sample.step_count(); ++s)
    out.at_step.push_back(regions_at(out.regions, sample, answer_end_at(sample, s), sample.reach_at(s)));
  if (sample.has_final_row())
    out.at_final_row =
        regions_at(out.regions, sample, answer_end(sample), whole_row(sample.mask, sample.tokens));
  if (published_.known()) out.at_published = published_.regions(sample, out.regions);
  for (const auto& sum : sums_)
    out.mean.push_back({sum.all.mean(), sum.revealed.mean(), sum.masked.mean(), sum.by_head.mean()});
  if (words_.kept()) add_words(sample, out);
  StepMean all, revealed, masked;
  for (std::int64_t s = 0; s < sample.step_count(); ++s) {
    const auto rows = words_.kept() ? words_.words(sample, s) : group_rows(sample, s);
    const auto even = [&](const std::vector<AnswerRow>& some) {
      return even_shares(some, out.at_step[static_cast<size_t>(s)], out.regions.count());
    };
    all.add(even(rows)), revealed.add(even(in_state(rows, false))), masked.add(even(in_state(rows, true)));
    out.even.last = even(rows);
  }
  // Where the trace does not hold the rows of its steps, the states of slots are not known.
  const auto or_all = [&](const StepMean& some) { return some.steps > 0 ? some.mean() : all.mean(); };
  out.even.all = all.mean(), out.even.revealed = or_all(revealed), out.even.masked = or_all(masked);
  return out;
}

void FlowSample::add_words(const ObservedSample& sample, SampleFlow& out) const {
  out.mean.clear();
  for (std::int64_t l = 0; l < sample.layer_count(); ++l) {
    LayerSums sum;
    AnswerFlow& last = out.last[static_cast<size_t>(l)];
    for (std::int64_t s = 0; s < sample.step_count(); ++s) {
      const auto rows = words_.words(sample, s);
      const auto shares = [&](const std::vector<AnswerRow>& some) { return words_.shares(some, s, l); };
      last = {shares(rows), shares(in_state(rows, false)), shares(in_state(rows, true)), {}};
      sum.all.add(last.all), sum.revealed.add(last.revealed), sum.masked.add(last.masked);
    }
    out.mean.push_back({sum.all.mean(), sum.revealed.mean(), sum.masked.mean(), words_.by_head(sample, l)});
  }
}

}  // namespace buoy::analysis
