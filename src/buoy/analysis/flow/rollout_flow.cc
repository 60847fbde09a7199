#include "buoy/analysis/flow/rollout_flow.h"

#include <algorithm>

#include "buoy/analysis/flow/kept_flow.h"
#include "buoy/result/schema/flow.h"

namespace buoy::analysis {
namespace {

void add_to(RegionMatrix& sum, const RegionMatrix& other, double factor) {
  for (size_t i = 0; i < sum.values.size(); ++i) sum.values[i] += factor * other.values[i];
}

std::vector<RegionMatrix> all_rollouts(const std::vector<RegionMatrix>& layers,
                                       std::span<const double> lengths,
                                       const std::vector<std::int64_t>& depths) {
  std::vector<RegionMatrix> out;
  for (const auto pooling : kPoolings) {
    std::vector<RegionMatrix> steps;
    steps.reserve(layers.size());
    for (const auto& layer : layers) steps.push_back(rollout_layer(layer, lengths, pooling));
    for (auto& matrix : rollouts(steps, depths)) out.push_back(std::move(matrix));
  }
  return out;
}

std::vector<RegionMatrix> even_rollouts(const SampleFlow& flow, const ForwardRegions& now, size_t layers,
                                        const std::vector<std::int64_t>& depths) {
  const RegionMatrix even = uniform_region_mass(now.of_query, now.of_token, flow.regions.count(), now.reach);
  return all_rollouts(std::vector<RegionMatrix>(layers, even), now.lengths, depths);
}

void add_mean(std::vector<RegionMatrix>& mean, const std::vector<RegionMatrix>& step, size_t steps) {
  if (mean.empty()) mean.assign(step.size(), RegionMatrix(step.empty() ? 0 : step[0].regions));
  for (size_t i = 0; i < mean.size(); ++i) add_to(mean[i], step[i], 1.0 / static_cast<double>(steps));
}

// A sample whose answer filled its slots has no padding to tell of.
bool absent(const ObservedSample& sample, const SampleFlow& flow, std::int64_t region) {
  return region == flow.regions.padding && !ends_early(sample);
}

// What is no region of the published rollout, or holds no token.
bool absent(const ObservedSample& sample, const SampleFlow& flow, std::int64_t region, RolloutOf forward) {
  if (forward != RolloutOf::kPublished) return absent(sample, flow, region);
  return region == flow.regions.padding || region == flow.regions.find(kTemplateRegion);
}

// A mean of matrices, each row over those in which it is not empty.
class RowMean {
 public:
  explicit RowMean(std::int64_t regions) : sum_(regions), counts_(static_cast<size_t>(regions), 0.0) {}

  void add(const RegionMatrix& matrix) {
    for (std::int64_t a = 0; a < matrix.regions; ++a) {
      double all = 0;
      for (std::int64_t b = 0; b < matrix.regions; ++b) {
        all += matrix.at(a, b);
        sum_.at(a, b) += matrix.at(a, b);
      }
      counts_[static_cast<size_t>(a)] += all > 0 ? 1 : 0;
    }
  }
  RegionMatrix mean() const {
    RegionMatrix out = sum_;
    for (std::int64_t a = 0; a < out.regions; ++a) {
      const double count = counts_[static_cast<size_t>(a)];
      for (std::int64_t b = 0; b < out.regions && count > 0; ++b) out.at(a, b) /= count;
    }
    return out;
  }

 private:
  RegionMatrix sum_;
  std::vector<double> counts_;
};

}  // namespace

const char* name_of(RolloutOf forward) {
  switch (forward) {
    case RolloutOf::kPublished:
      return "published";
    case RolloutOf::kFinalRow:
      return "final_row";
    case RolloutOf::kDenoisingMean:
      return "denoising_mean";
    case RolloutOf::kDenoisingLast:
      break;
  }
  return "denoising_last";
}

std::optional<SampleRollout::Cell> SampleRollout::at(RolloutOf forward, size_t pooling, size_t depth) const {
  const auto cell = [](const std::vector<RegionMatrix>& flow, const std::vector<RegionMatrix>& even,
                       size_t place) -> std::optional<Cell> {
    if (flow.empty()) return std::nullopt;
    return Cell{&flow[place], &even[place]};
  };
  const size_t place = pooling * depths.size() + depth;
  switch (forward) {
    case RolloutOf::kPublished:
      if (kPoolings[pooling] != Pooling::kSum || depth + 1 != depths.size()) return std::nullopt;
      return cell(published, even_published, 0);
    case RolloutOf::kFinalRow:
      return cell(final_row, even_final_row, place);
    case RolloutOf::kDenoisingMean:
      return cell(denoising_mean, even_denoising_mean, place);
    case RolloutOf::kDenoisingLast:
      break;
  }
  return cell(denoising_last, even_denoising_last, place);
}

std::vector<std::int64_t> rollout_depths(const SampleFlow& flow, std::int64_t layers, std::int64_t most) {
  std::vector<std::int64_t> depths;
  if (!flow.regions.all_rows || layers == 0) return depths;
  for (std::int64_t k = 1; k <= std::min(most, layers); ++k) depths.push_back(k);
  if (most < layers) depths.push_back(layers);
  return depths;
}

SampleRollout rollout_of_sample(const SampleFlow& flow, std::int64_t most) {
  SampleRollout out;
  if (flow.steps.empty()) return out;
  const size_t layers = flow.steps[0].size();
  out.depths = rollout_depths(flow, static_cast<std::int64_t>(layers), most);
  if (out.depths.empty()) return out;
  if (!flow.final_row.empty()) {
    out.final_row = all_rollouts(flow.final_row, flow.at_final_row.lengths, out.depths);
    out.even_final_row = even_rollouts(flow, flow.at_final_row, layers, out.depths);
  }
  if (!flow.published.empty()) {
    const std::vector<std::int64_t> all = {out.depths.back()};
    out.published = all_rollouts(flow.published, flow.at_published.lengths, all);
    out.even_published = even_rollouts(flow, flow.at_published, layers, all);
    out.published.resize(1), out.even_published.resize(1);  // sum pooling comes first
  }
  for (size_t s = 0; flow.denoises && s < flow.steps.size(); ++s) {
    const ForwardRegions& now = flow.at_step[s];
    out.denoising_last = all_rollouts(flow.steps[s], now.lengths, out.depths);
    add_mean(out.denoising_mean, out.denoising_last, flow.steps.size());
    if (s == 0 || now.of_token != flow.at_step[s - 1].of_token)
      out.even_denoising_last = even_rollouts(flow, now, layers, out.depths);
    add_mean(out.even_denoising_mean, out.even_denoising_last, flow.steps.size());
  }
  return out;
}

MeanMatrices mean_matrices(const SampleFlow& flow) {
  MeanMatrices out;
  const std::int64_t R = flow.regions.count();
  for (const auto pooling : kPoolings) {
    for (size_t l = 0; !flow.steps.empty() && l < flow.steps[0].size(); ++l) {
      RowMean mean(R);
      for (size_t s = 0; s < flow.steps.size(); ++s)
        mean.add(pooled(flow.steps[s][l], flow.at_step[s].lengths, pooling));
      out.of_layer.push_back(mean.mean());
    }
    RowMean even(R);
    for (const auto& now : flow.at_step)
      even.add(pooled(uniform_region_mass(now.of_query, now.of_token, R, now.reach), now.lengths, pooling));
    out.even.push_back(even.mean());
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
  return name == kAnswerRegion ? many : name == kPaddingRegion ? many + 1 : region;
}

void RolloutSums::add_matrices(const ObservedSample& sample, const KeptFlow& kept,
                               const std::vector<std::int64_t>& ids) {
  const SampleFlow& flow = kept.flow();
  const std::int64_t R = flow.regions.count();
  for (std::int64_t p = 0; p < 2; ++p) {
    const RegionMatrix& even = kept.matrices().even[static_cast<size_t>(p)];
    for (size_t l = 0; l < sample.layers.size(); ++l) {
      const auto& mean = kept.matrices().of_layer[static_cast<size_t>(p) * sample.layers.size() + l];
      for (std::int64_t a = 0; a < R; ++a) {
        if (absent(sample, flow, a)) continue;
        const auto row = mean.row(a);
        if (std::all_of(row.begin(), row.end(), [](double mass) { return mass == 0; })) continue;
        for (std::int64_t b = 0; b < R; ++b) {
          if (absent(sample, flow, b)) continue;
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
      for (std::int64_t a = 0; a < R; ++a) {
        // Of truncated rollouts the answer's row is what is asked; the published matrix is shown whole.
        if (!all && a != flow.regions.answer) continue;
        for (std::int64_t b = 0; b < R; ++b) {
          for (const auto forward : kRolloutsOf) {
            const auto cell = rollout.at(forward, static_cast<size_t>(p), d);
            if (!cell || absent(sample, flow, a, forward) || absent(sample, flow, b, forward)) continue;
            const Key key = {static_cast<std::int64_t>(forward), p, rollout.depths[d],
                             ids[static_cast<size_t>(a)], ids[static_cast<size_t>(b)]};
            Entry& entry = rollout_[key];
            entry.all_layers = all;
            entry.value.add(0, cell->flow->at(a, b));
            entry.uniform.add(0, cell->even->at(a, b));
          }
        }
      }
    }
  }
}

void RolloutSums::add(const ObservedSample& sample, const KeptFlow& kept) {
  if (kept.matrices().of_layer.empty()) return;
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
