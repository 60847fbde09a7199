#include "buoy/run/change/column_change.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "buoy/analysis/core/depth.h"
#include "buoy/analysis/floating/floating_rules.h"
#include "buoy/analysis/sample/stored_source.h"
#include "buoy/analysis/sample/token_type.h"
#include "buoy/base/error.h"
#include "buoy/base/random.h"

namespace buoy::run {
namespace {

constexpr std::array kKindNames = {"floating", "random", "structural"};
constexpr std::array kThirdNames = {"shallow", "middle", "deep"};

// `count` of the candidates, drawn anew for every step and layer.
std::vector<std::int32_t> draw(const std::vector<std::int32_t>& candidates, std::size_t count,
                               std::uint64_t seed, std::int64_t step, std::int64_t layer) {
  std::vector<std::pair<double, std::int32_t>> order;
  for (const auto position : candidates) {
    const DrawAddress address{DrawStream::kColumns, static_cast<std::uint32_t>(step),
                              static_cast<std::uint32_t>(layer), static_cast<std::uint32_t>(position)};
    order.emplace_back(uniform(seed, address), position);
  }
  std::sort(order.begin(), order.end());
  order.resize(std::min(count, order.size()));
  std::vector<std::int32_t> out;
  for (const auto& [rank, position] : order) out.push_back(position);
  std::sort(out.begin(), out.end());
  return out;
}

// Prompt positions that may be hidden at all.
std::vector<std::int32_t> candidates_of(const analysis::ObservedSample& sample) {
  std::vector<std::int32_t> out;
  for (std::int64_t p = 0; p < sample.prompt_length; ++p) {
    if (sample.evidence.empty() || sample.evidence[static_cast<std::size_t>(p)] == 0)
      out.push_back(static_cast<std::int32_t>(p));
  }
  return out;
}

std::vector<std::int32_t> without(const std::vector<std::int32_t>& all,
                                  const std::vector<std::int32_t>& some) {
  std::vector<std::int32_t> out;
  std::set_difference(all.begin(), all.end(), some.begin(), some.end(), std::back_inserter(out));
  return out;
}

}  // namespace

std::string describe(const ColumnChange& hidden) {
  return fmt::format("{}-{}", kKindNames[static_cast<std::size_t>(hidden.kind)],
                     kThirdNames[static_cast<std::size_t>(hidden.third)]);
}

std::vector<ColumnChange> all_column_changes() {
  std::vector<ColumnChange> out;
  for (std::int64_t third = 0; third < 3; ++third) {
    for (const auto kind : {ColumnKind::kFloating, ColumnKind::kRandom, ColumnKind::kStructural})
      out.push_back({kind, third});
  }
  return out;
}

ColumnBook::ColumnBook(const std::filesystem::path& trace)
    : folder_(trace), reader_(trace::TraceReader::open(trace)) {
  if (const auto level = reader_.manifest().level; level != trace::Level::kFull)
    throw_input_error({trace.string(), "a trace with `keep` full, because columns are chosen from its arrays",
                       fmt::format("one that keeps {}", name_of(level))});
}

ColumnSets ColumnBook::choose(const std::string& id, std::span<const std::int32_t> prompt,
                              const ColumnChange& hidden, std::uint64_t seed) const {
  const auto& entries = reader_.samples();
  if (std::none_of(entries.begin(), entries.end(), [&](const auto& entry) { return entry.id == id; }))
    throw_input_error({folder_.string(), fmt::format("a sample of question \"{}\"", id), "none"});
  const analysis::StoredSource source(reader_.manifest(), reader_.read(id));
  const auto& sample = source.sample();
  if (static_cast<std::int64_t>(prompt.size()) != sample.prompt_length ||
      !std::equal(prompt.begin(), prompt.end(), sample.final_row.begin()))
    throw_input_error({folder_.string(), fmt::format("question \"{}\" with the same prompt", id), "another"});

  // Columns would be hidden at other forwards than they were chosen at: those that finish blocks stand
  // between.
  if (reader_.manifest().blocks)
    throw_input_error({folder_.string(), "a trace of a model that decodes no blocks",
                       "block decoding, whose forwards are no steps of the whole row"});
  const std::int64_t layers = reader_.manifest().model.layers;
  if (sample.layer_count() != layers || sample.steps.empty() || sample.steps.front() != 0 ||
      sample.steps.back() + 1 != sample.step_count())
    throw_input_error(
        {folder_.string(), "every step and layer observed",
         fmt::format("{} steps and {} of {} layers", sample.step_count(), sample.layer_count(), layers)});

  const auto candidates = candidates_of(sample);
  const auto types = analysis::token_types(sample, {sample.token_texts, sample.special});
  analysis::AnchorDetector detector(sample.mask, sample.tokens, {});
  const std::int64_t steps = sample.masked_diffusion ? sample.step_count() : 1;
  ColumnSets sets(static_cast<std::size_t>(steps));
  for (std::int64_t s = 0; s < steps; ++s) {
    auto& of_step = sets[static_cast<std::size_t>(s)];
    of_step.resize(static_cast<std::size_t>(layers));
    for (std::int64_t l = 0; l < sample.layer_count(); ++l) {
      const std::int64_t layer = sample.layers[static_cast<std::size_t>(l)];
      if (analysis::third_of_layer(layer, layers) != hidden.third) continue;
      const auto received = source.received(s, l);
      analysis::Anchors anchors;
      detector.look(received.mean);
      detector.find(analysis::Rule::kThreeSigmaLift, anchors);
      auto& columns = of_step[static_cast<std::size_t>(layer)];
      std::set_intersection(anchors.positions.begin(), anchors.positions.end(), candidates.begin(),
                            candidates.end(), std::back_inserter(columns));
      if (hidden.kind == ColumnKind::kFloating) continue;
      auto others = without(candidates, anchors.positions);
      if (hidden.kind == ColumnKind::kStructural) {
        std::erase_if(others, [&](std::int32_t p) {
          return !analysis::is_structural(types[static_cast<std::size_t>(p)]);
        });
      }
      columns = draw(others, columns.size(), seed, s, layer);
    }
  }
  return sets;
}

probe::Change ColumnChangeProbe::change(const probe::Address& address, const probe::LayerExtent& extent) {
  const auto step = std::min(static_cast<std::size_t>(address.step), sets_.size() - 1);
  const auto layer = static_cast<std::size_t>(address.layer);
  BUOY_CHECK(layer < sets_[step].size());  // require_trace_of compared the model with the trace's
  const auto& columns = sets_[step][layer];
  if (columns.empty()) return {};
  bias_.resize(sets_[step].size());
  auto& bias = bias_[layer];
  bias.assign(static_cast<std::size_t>(extent.key_rows), 0.0f);
  for (const auto position : columns) {
    if (position < extent.key_rows)
      bias[static_cast<std::size_t>(position)] = -std::numeric_limits<float>::infinity();
  }
  return {bias, {}};
}

}  // namespace buoy::run
