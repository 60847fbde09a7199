#include "buoy/analysis/flow/rollout_flow.h"

#include <algorithm>

#include "buoy/analysis/flow/kept_flow.h"
#include "buoy/result/schema/flow.h"

namespace buoy::analysis {
namespace {

void add_to(RegionMatrix& sum, const RegionMatrix& other, double factor) {
  for (size_t i = 0; i < sum.values.size(); ++i) sum.values[i] += factor * other.values[i];
}

std::vector<RegionMatrix> all_rollouts(const std::vector<RegionMatrix>& layers, const SampleFlow& flow,
                                       const std::vector<std::int64_t>& depths) {
  std::vector<RegionMatrix> out;
  for (const auto pooling : kPoolings) {
    std::vector<RegionMatrix> steps;
    steps.reserve(layers.size());
    for (const auto& layer : layers) steps.push_back(rollout_layer(layer, flow.regions.lengths, pooling));
    for (auto& matrix : rollouts(steps, depths)) out.push_back(std::move(matrix));
  }
  return out;
}

}  // namespace

const char* name_of(RolloutOf forward) {
  switch (forward) {
    case RolloutOf::kFinalRow:
      return "final_row";
    case RolloutOf::kDenoisingMean:
      return "denoising_mean";
    case RolloutOf::kDenoisingLast:
      break;
  }
  return "denoising_last";
}

const std::vector<RegionMatrix>& SampleRollout::of(RolloutOf forward) const {
  return forward == RolloutOf::kFinalRow        ? final_row
         : forward == RolloutOf::kDenoisingMean ? denoising_mean
                                                : denoising_last;
}

SampleRollout even_rollout(const SampleFlow& flow, std::int64_t layers, std::int64_t most) {
  SampleRollout out;
  if (!flow.regions.all_rows || layers == 0) return out;
  for (std::int64_t k = 1; k <= std::min(most, layers); ++k) out.depths.push_back(k);
  if (most < layers) out.depths.push_back(layers);
  const std::vector<RegionMatrix> even(static_cast<size_t>(layers), flow.uniform_mass);
  out.uniform = all_rollouts(even, flow, out.depths);
  return out;
}

SampleRollout rollout_of_sample(const SampleFlow& flow, std::int64_t most) {
  if (flow.steps.empty()) return {};
  SampleRollout out = even_rollout(flow, std::ssize(flow.steps[0]), most);
  if (out.depths.empty()) return out;
  if (!flow.final_row.empty()) out.final_row = all_rollouts(flow.final_row, flow, out.depths);
  for (const auto& step : flow.steps) {
    if (!flow.denoises) break;
    out.denoising_last = all_rollouts(step, flow, out.depths);
    auto& mean = out.denoising_mean;
    if (mean.empty()) mean.assign(out.denoising_last.size(), RegionMatrix(flow.regions.count()));
    for (size_t i = 0; i < mean.size(); ++i)
      add_to(mean[i], out.denoising_last[i], 1.0 / static_cast<double>(flow.steps.size()));
  }
  return out;
}

std::vector<RegionMatrix> mean_matrices(const SampleFlow& flow) {
  std::vector<RegionMatrix> out;
  for (const auto pooling : kPoolings) {
    for (size_t l = 0; !flow.steps.empty() && l < flow.steps[0].size(); ++l) {
      RegionMatrix mean(flow.regions.count());
      for (const auto& step : flow.steps)
        add_to(mean, pooled(step[l], flow.regions.lengths, pooling),
               1.0 / static_cast<double>(flow.steps.size()));
      out.push_back(std::move(mean));
    }
  }
  return out;
}

std::int64_t RolloutSums::region(const std::string& name) {
  const auto at = std::find(names_.begin(), names_.end(), name);
  if (at != names_.end()) return at - names_.begin();
  names_.push_back(name);
  return static_cast<std::int64_t>(names_.size()) - 1;
}

std::int64_t RolloutSums::order(std::int64_t region) const {
  const auto& name = names_[static_cast<size_t>(region)];
  const auto many = static_cast<std::int64_t>(names_.size());
  if (name == kBosRegion) return -3;
  if (name == kTemplateRegion) return -2;
  if (name == kQueryRegion) return -1;
  return name == kAnswerRegion ? many : region;
}

void RolloutSums::add_matrices(const ObservedSample& sample, const KeptFlow& kept,
                               const std::vector<std::int64_t>& ids) {
  const SampleFlow& flow = kept.flow();
  const std::int64_t R = flow.regions.count();
  for (std::int64_t p = 0; p < 2; ++p) {
    const RegionMatrix even = pooled(flow.uniform_mass, flow.regions.lengths, kPoolings[p]);
    for (size_t l = 0; l < sample.layers.size(); ++l) {
      const auto& mean = kept.matrices()[static_cast<size_t>(p) * sample.layers.size() + l];
      for (std::int64_t a = 0; a < R; ++a) {
        if (flow.regions.groups[static_cast<size_t>(a)].empty()) continue;
        for (std::int64_t b = 0; b < R; ++b) {
          const Key key = {sample.layers[l], p, ids[static_cast<size_t>(a)], ids[static_cast<size_t>(b)], 0};
          Entry& entry = mass_[key];
          entry.value.add(0, mean.at(a, b));
          entry.uniform.add(0, even.at(a, b));
        }
      }
    }
  }
}

void RolloutSums::add_rollouts(const ObservedSample& sample, const KeptFlow& kept,
                               const std::vector<std::int64_t>& ids) {
  const SampleFlow& flow = kept.flow();
  const SampleRollout& rollout = kept.rollout();
  const std::int64_t R = flow.regions.count();
  for (std::int64_t p = 0; p < 2; ++p) {
    for (size_t d = 0; d < rollout.depths.size(); ++d) {
      const bool all = rollout.depths[d] == sample.layer_count();
      const size_t at = rollout.at(static_cast<size_t>(p), d);
      for (std::int64_t a = 0; a < R; ++a) {
        // Of truncated rollouts the answer's row is what is asked; the published matrix is shown whole.
        if (!all && a != flow.regions.answer) continue;
        for (std::int64_t b = 0; b < R; ++b) {
          for (const auto forward : kRolloutsOf) {
            const auto& matrices = rollout.of(forward);
            if (matrices.empty()) continue;
            const Key key = {static_cast<std::int64_t>(forward), p, rollout.depths[d],
                             ids[static_cast<size_t>(a)], ids[static_cast<size_t>(b)]};
            Entry& entry = rollout_[key];
            entry.all_layers = all;
            entry.value.add(0, matrices[at].at(a, b));
            entry.uniform.add(0, rollout.uniform[at].at(a, b));
          }
        }
      }
    }
  }
}

void RolloutSums::add(const ObservedSample& sample, const KeptFlow& kept) {
  if (kept.matrices().empty()) return;
  std::vector<std::int64_t> ids;
  for (const auto& name : kept.flow().regions.names) ids.push_back(region(name));
  add_matrices(sample, kept, ids);
  if (!kept.rollout().depths.empty()) add_rollouts(sample, kept, ids);
}

namespace {

// Entries in the order of a table: regions by their place in the prompt, not by when they were first met.
template <typename Entries, typename Order>
auto sorted(const Entries& entries, size_t from, const Order& order) {
  std::vector<typename Entries::const_iterator> out;
  for (auto it = entries.begin(); it != entries.end(); ++it) out.push_back(it);
  std::sort(out.begin(), out.end(), [&](const auto& x, const auto& y) {
    auto a = x->first, b = y->first;
    for (size_t i = from; i < from + 2; ++i) a[i] = order(a[i]), b[i] = order(b[i]);
    return a < b;
  });
  return out;
}

}  // namespace

Table RolloutSums::matrix() const {
  const auto& t = schema::flow_matrix;
  Table table(t);
  const auto place = [&](std::int64_t region) { return order(region); };
  for (const auto& it : sorted(mass_, 2, place)) {
    const auto& [key, entry] = *it;
    table.add({{t.layer, key[0]},
               {t.pooling, name_of(kPoolings[key[1]])},
               {t.from, names_[static_cast<size_t>(key[2])]},
               {t.to, names_[static_cast<size_t>(key[3])]},
               {t.samples, entry.value.count(0)},
               {t.mass, number_cell(entry.value.mean(0))},
               {t.uniform, number_cell(entry.uniform.mean(0))}});
  }
  return table;
}

Table RolloutSums::rollout() const {
  const auto& t = schema::flow_rollout;
  Table table(t);
  const auto place = [&](std::int64_t region) { return order(region); };
  for (const auto& it : sorted(rollout_, 3, place)) {
    const auto& [key, entry] = *it;
    const double value = entry.value.mean(0), even = entry.uniform.mean(0);
    table.add({{t.forward, name_of(static_cast<RolloutOf>(key[0]))},
               {t.pooling, name_of(kPoolings[key[1]])},
               {t.layers, key[2]},
               {t.all_layers, entry.all_layers ? "yes" : "no"},
               {t.from, names_[static_cast<size_t>(key[3])]},
               {t.to, names_[static_cast<size_t>(key[4])]},
               {t.samples, entry.value.count(0)},
               {t.flow, number_cell(value)},
               {t.flow_error, number_cell(entry.value.error(0))},
               {t.uniform, number_cell(even)},
               {t.ratio, even >= 0.0005 ? number_cell(value / even) : Cell()}});
  }
  return table;
}

}  // namespace buoy::analysis
