#include "buoy/model/device/device_pass.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "buoy/base/error.h"
#include "buoy/model/block_grid.h"
#include "buoy/model/device/device_pass_state.h"
#include "buoy/ops/experts/experts_cuda.h"
#include "buoy/ops/pointwise/elementwise_cuda.h"
#include "buoy/ops/sampling/sampling_cuda.h"

namespace buoy::model {
namespace {

// Byte 0x7f four times: what the flag holds while every number was finite.
constexpr std::int32_t kAllFinite = 0x7f7f7f7f;
constexpr size_t kMostGraphs = 128;

void check_sizes(const ModelConfig& c) {
  if (c.hidden % 8 != 0 || c.mlp_hidden % 8 != 0 || c.head_dim % 8 != 0) {
    throw_usage_error({"a model on the device", "hidden, MLP and head sizes that are multiples of 8",
                       fmt::format("{}, {} and {}", c.hidden, c.mlp_hidden, c.head_dim)});
  }
  if (!c.experts) return;
  const ExpertConfig& e = *c.experts;
  if (e.width % 8 != 0 || e.shared_width % 8 != 0) {
    throw_usage_error({"a model on the device", "widths of experts that are multiples of 8",
                       fmt::format("{} and {} (shared)", e.width, e.shared_width)});
  }
  if (e.count > ops::kMostExperts || e.chosen > ops::kMostChosen || e.groups > ops::kMostExpertGroups) {
    throw_usage_error({"a model on the device",
                       fmt::format("at most {} experts in {} groups, {} of them chosen", ops::kMostExperts,
                                   ops::kMostExpertGroups, ops::kMostChosen),
                       fmt::format("{} in {}, {}", e.count, e.groups, e.chosen)});
  }
}

}  // namespace

DevicePass::DevicePass(const ModelConfig& config, DeviceWeights weights, int timed_candidates) {
  check_sizes(config);
  state_ = std::make_unique<State>(config, std::move(weights), timed_candidates);
}
DevicePass::~DevicePass() = default;

KvCache DevicePass::new_cache() const {
  return KvCache(state_->pool);
}
std::uint64_t DevicePass::weight_bytes() const {
  return state_->weights.bytes();
}
std::uint64_t DevicePass::workspace_bytes() const {
  const State& s = *state_;
  return s.work.bytes() + s.rope_memory.bytes() + s.observer.device_bytes() + s.predicted.bytes() +
         (s.plan ? s.plan->device_bytes() : 0);
}

const float* DevicePass::logits(const Context& context, std::span<const SequenceInput> sequences,
                                probe::Probe* probe) {
  State& s = *state_;
  s.start(sequences, probe);
  s.run_layers(context);
  const auto wanted = static_cast<std::int64_t>(s.batch->logit_rows.size());
  const std::int64_t vocabulary = s.config.vocabulary;
  auto* out =
      static_cast<float*>(s.host_logits.reserve(static_cast<size_t>(wanted * vocabulary) * sizeof(float)));
  for (std::int64_t first = 0; first < wanted; first += s.work.logit_chunk()) {
    const std::int64_t count = std::min(s.work.logit_chunk(), wanted - first);
    s.queue_logits(first, count);
    ops::find_non_finite_cuda(s.stream, s.work.logits, count * vocabulary, s.work.flag,
                              s.not_finite_logits());
    copy_to_host(s.stream, out + first * vocabulary, s.work.logits,
                 static_cast<size_t>(count * vocabulary) * sizeof(float));
  }
  s.queue_predictions();
  s.finish(context);
  return out;
}

std::span<const ops::RowChoice> DevicePass::choices(const Context& context,
                                                    std::span<const SequenceInput> sequences,
                                                    std::span<const ops::ChoiceRule> rules,
                                                    probe::Probe* probe) {
  State& s = *state_;
  s.start(sequences, probe);
  const size_t wanted = s.batch->logit_rows.size();
  BUOY_CHECK(rules.size() == wanted);
  s.run_layers(context);
  copy_to_device(s.stream, s.work.rules, rules.data(), rules.size_bytes());  // while the layers run
  const bool logits_needed = !std::all_of(rules.begin(), rules.end(), ops::needs_no_logits);
  for (std::int64_t first = 0; first < static_cast<std::int64_t>(wanted); first += s.work.logit_chunk()) {
    const std::int64_t count = std::min(s.work.logit_chunk(), static_cast<std::int64_t>(wanted) - first);
    s.queue_choices(first, count, logits_needed);
  }
  auto* out = static_cast<ops::RowChoice*>(
      s.host_choices.reserve(std::max<size_t>(1, wanted) * sizeof(ops::RowChoice)));
  write_to_host(s.stream, out, s.work.choices, wanted * sizeof(ops::RowChoice));
  s.queue_predictions();
  s.finish(context);
  return {out, wanted};
}

void DevicePass::State::start(std::span<const SequenceInput> given, probe::Probe* probe) {
  if (unfinished) stream.synchronize();
  unfinished = true;
  first_together = 0;
  inputs.assign(given.begin(), given.end());
  lent.clear();
  cached =
      std::any_of(inputs.begin(), inputs.end(), [](const auto& input) { return input.cache != nullptr; });
  if (cached) {
    lent.reserve(inputs.size());
    for (SequenceInput& input : inputs) {
      if (input.cache == nullptr) input.cache = &lent.emplace_back(pool);
      BUOY_CHECK(input.cache->pool() == pool.get());
      input.cache->reserve(input.key_rows());
    }
    // Where the pool grew, it moved.
    if (std::exchange(pool_place, pool->keys(0)) != pool->keys(0)) graphs.clear();
  }
  batch.emplace(inputs);
  // A model that sees no blocks by itself is asked to once: its plan has room for grids from then on.
  if (mask != mask_kind(config, inputs) && mask != ops::MaskKind::kBlockCausal) {
    mask = ops::MaskKind::kBlockCausal;
    plan.reset();
  }
  asking = probe;
  predictions.emplace(*batch, config, probe);
  observer.start(*batch, probe, key_step());
  grow(std::ssize(batch->logit_rows) + std::ssize(predictions->rows()));
  upload();
  set_sequences();
}

void DevicePass::State::set_sequences() {
  std::vector<ops::PackedSequence> sequences;
  for (size_t n = 0; n < inputs.size(); ++n) {
    const SequenceInput& input = inputs[n];
    const BlockGrid grid = grid_of(config, input);
    if (grid.before == ops::BeforeGrid::kCausal && input.past() < grid.origin) {
      throw_usage_error({"grid", "on a GPU, causal rows before the blocks in a forward of their own",
                         fmt::format("rows from {}, blocks from {}", input.past(), grid.origin)});
    }
    const std::int64_t first_key = cached ? input.cache->first_pool_row() : batch->first_rows[n];
    sequences.push_back({static_cast<std::int32_t>(batch->first_rows[n]),
                         static_cast<std::int32_t>(input.rows()), static_cast<std::int32_t>(input.past()),
                         static_cast<std::int32_t>(first_key), static_cast<std::int32_t>(input.key_rows()),
                         static_cast<std::int32_t>(input.prefix_length()), grid.block,
                         static_cast<std::int32_t>(grid.origin), grid.before == ops::BeforeGrid::kWhole});
  }
  const auto same = [](const ops::PackedSequence& a, const ops::PackedSequence& b) {
    return a.query_start == b.query_start && a.query_rows == b.query_rows &&
           a.first_position == b.first_position && a.key_start == b.key_start && a.key_rows == b.key_rows &&
           a.prefix == b.prefix && a.block == b.block && a.grid_origin == b.grid_origin &&
           a.whole_before_grid == b.whole_before_grid;
  };
  if (std::ranges::equal(sequences, planned, same)) return;  // as at every step of a diffusion
  plan->set_sequences(sequences, stream, key_step());
  planned = std::move(sequences);
  observer.forget_plan();
}

// Buffers for the batch at hand; when one of them moves, captured graphs point to the wrong place.
void DevicePass::State::grow(std::int64_t wanted) {
  bool moved = work.reserve(config, batch->rows(), wanted);
  std::int64_t columns = 0;
  for (const auto& input : inputs) columns += rounded_up(input.key_rows(), key_step());
  const auto sequences = static_cast<std::int64_t>(inputs.size());
  const bool watched = observer.watching();
  if (!plan || sequences > limits.sequences || batch->rows() > limits.rows || columns > limits.columns ||
      (watched && !limits.statistics)) {
    limits.sequences = std::max(limits.sequences, sequences);
    limits.rows = std::max(limits.rows, work.rows());
    limits.columns = std::max(limits.columns, (columns + 1023) / 1024 * 1024);
    limits.statistics |= watched;
    if (limits.statistics) limits.lanes = DeviceObserver::kMostAtOnce;
    make_plan();
    moved = true;
  }
  const std::int64_t last = *std::max_element(batch->positions.begin(), batch->positions.end());
  if (last >= rope_positions) {
    rope_positions = std::max(last + 1, 2 * rope_positions);
    grow_rope();
    moved = true;
  }
  if (moved) graphs.clear();
}

void DevicePass::State::make_plan() {
  plan.reset();
  planned.clear();
  plan.emplace(ops::AttentionShape{config.heads, config.kv_heads, config.head_dim, {mask, 0}}, limits);
}

// Room for rows to look at closely: the plan is made anew at the first pass that asks for so many.
void DevicePass::State::grow_for(const LayerWants& wants) {
  const auto close_rows = static_cast<std::int64_t>(wants.close_rows.size());
  if (close_rows <= limits.close_rows) return;
  stream.synchronize();
  limits.close_rows = close_rows;
  make_plan();
  set_sequences();
  graphs.clear();
}

void DevicePass::State::grow_rope() {
  rope.grow(rope_positions);
  const size_t bytes = static_cast<size_t>(rope_positions * rope.pairs()) * sizeof(float);
  const size_t scales = rotary_scales.any() ? static_cast<size_t>(rope_positions) * sizeof(float) : 0;
  rope_memory.reserve(2 * bytes + scales);
  copy_to_device(stream, rope_memory.data(), rope.cosines(0), bytes);
  copy_to_device(stream, rope_memory.as<std::byte>() + bytes, rope.sines(0), bytes);
  if (scales == 0) return;
  std::vector<float> of_query;
  for (std::int64_t p = 0; p < rope_positions; ++p)
    of_query.push_back(static_cast<float>(rotary_scales.of_query(p)));
  copy_to_device(stream, rope_memory.as<std::byte>() + 2 * bytes, of_query.data(), scales);
  stream.synchronize();  // the numbers here do not outlive the copy
}

ops::DeviceRopeTable DevicePass::State::rope_table() const {
  const float* cosines = rope_memory.as<float>();
  const std::int64_t angles = rope_positions * rope.pairs();
  return {cosines, cosines + angles, rope.pairs(), rotary_scales.any() ? cosines + 2 * angles : nullptr,
          static_cast<float>(rotary_scales.of_key())};
}

// Tokens, positions and row numbers through one pinned block.
void DevicePass::State::upload() {
  // Behind the rows whose logits are wanted come those that are predicted from.
  std::vector<std::int64_t> logit_rows = batch->logit_rows;
  for (const auto& row : predictions->rows()) logit_rows.push_back(row.packed);
  const size_t rows = batch->tokens.size(), wanted = logit_rows.size();
  const auto padded = wanted + 128;
  auto* staged = static_cast<std::int32_t*>(staging.reserve((3 * rows + padded) * sizeof(std::int32_t)));
  std::int32_t *tokens = staged, *positions = staged + rows, *cache_rows = staged + 2 * rows,
               *chosen = staged + 3 * rows;
  std::copy(batch->tokens.begin(), batch->tokens.end(), tokens);
  std::copy(batch->positions.begin(), batch->positions.end(), positions);
  copy_to_device(stream, work.tokens, tokens, rows * sizeof(std::int32_t));
  copy_to_device(stream, work.positions, positions, rows * sizeof(std::int32_t));
  if (cached) {
    for (const auto& input : inputs) {
      for (std::int64_t i = 0; i < input.rows(); ++i)
        *cache_rows++ = static_cast<std::int32_t>(input.cache->first_pool_row() + input.past() + i);
    }
    copy_to_device(stream, work.cache_rows, staged + 2 * rows, rows * sizeof(std::int32_t));
  }
  for (size_t i = 0; i < padded && wanted > 0; ++i)
    chosen[i] = static_cast<std::int32_t>(logit_rows[std::min(i, wanted - 1)]);
  if (wanted > 0) copy_to_device(stream, work.logit_rows, chosen, padded * sizeof(std::int32_t));
}

void DevicePass::State::run_layers(const Context& context) {
  if (!observer.watching()) {
    launch_layers(0, config.layers, true);
    return;
  }
  queue_beginning();  // the card has work while the host asks what to observe
  for (std::int64_t first = 0, end = 0; first < config.layers; first = end) {
    // The card waits while the host asks about the first layers; then it has work, and the host may ask about
    // more. The host waits for the last ones, whose records it takes when the card has nothing left to do:
    // they become fewer and fewer, unless records are taken later.
    const bool later = observer.taken_later();
    const std::int64_t fewer = std::min(2 * first + 1, (config.layers - first + 1) / 2);
    const std::int64_t most = std::min(observer.layers_at_once(), !later       ? fewer
                                                                  : first == 0 ? 4
                                                                               : config.layers);
    bool recordable = true;
    do {
      prepare_layer(context, end);
      recordable &= observer.recordable(end);
      ++end;
    } while (end < config.layers && end - first < most && observer.joins_previous(end));
    launch_layers(first, end, recordable);
    observer.send(stream, first, end);
  }
}

void DevicePass::State::prepare_layer(const Context& context, std::int64_t layer) {
  grow_for(observer.wants(layer));
  if (observer.prepare(context, stream, layer, *plan)) graphs.clear();
}

// Recorded layers are replayed with one launch.
void DevicePass::State::launch_layers(std::int64_t first, std::int64_t end, bool recordable) {
  const auto queue = [&] {
    if (!observer.watching()) queue_beginning();
    queue_layers(first, end);
  };
  if (!recordable) {
    queue();
    return;
  }
  // Negative ends: another shape than with what follows the last attention.
  std::vector<std::int64_t> shape = {first, behind_last_use(end - 1) ? -end : end};
  for (const auto& input : inputs) {
    const BlockGrid grid = grid_of(config, input);
    shape.insert(shape.end(),
                 {input.rows(), grid.block, grid.origin, static_cast<std::int64_t>(grid.before), cached});
    if (observer.watching()) shape.push_back(rounded_up(input.key_rows(), key_step()));
  }
  if (observer.watching()) {
    shape.push_back(plan->all_seen());
    shape.push_back(-observer.buffers());  // lengths are positive: another shape than any unobserved
    for (std::int64_t layer = first; layer < end; ++layer) observer.wants(layer).append_shape(shape);
  }
  if (graphs.size() >= kMostGraphs && !graphs.contains(shape)) graphs.clear();
  const auto [slot, fresh] = graphs.try_emplace(std::move(shape));
  // The first time everything is prepared (products choose their plans); the second time it is recorded.
  if (fresh) {
    queue();
    return;
  }
  if (!slot->second) slot->second.emplace(stream, queue);
  slot->second->launch(stream);
}

void DevicePass::State::finish(const Context& context) {
  write_to_host(stream, host_flag.reserve(sizeof(std::int32_t)), work.flag, sizeof(std::int32_t));
  if (observer.watching()) observer.finish(context);
  stream.synchronize();
  unfinished = false;
  const std::int32_t flag = *host_flag.as<std::int32_t>();
  for (size_t n = 0; n < inputs.size(); ++n) {
    const SequenceInput& input = inputs[n];
    if (input.cache != nullptr && input.extends_cache && !input.replaces_from)
      input.cache->advance(input.rows());
  }
  if (flag == kAllFinite) return hand_over_predictions();
  if (flag == not_finite_lens()) throw NonFinite{"the logits of the lens"};
  if (flag >= not_finite_router(0))
    throw NonFinite{fmt::format("the router of layer {}", flag - not_finite_router(0))};
  throw NonFinite{flag == not_finite_logits() ? "the logits"
                                              : fmt::format("the queries or keys of layer {}", flag)};
}

}  // namespace buoy::model
