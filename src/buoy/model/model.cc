#include "buoy/model/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "buoy/base/error.h"
#include "buoy/model/block_grid.h"
#include "buoy/model/device/device_pass.h"
#include "buoy/model/predictions.h"
#include "buoy/ops/attention/attention.h"
#include "buoy/ops/pointwise/elementwise.h"
#include "buoy/ops/pointwise/norm.h"

namespace buoy::model {
namespace {

// Rows of the MLP at a time: its two wide buffers stay small however long the sequence is.
constexpr std::int64_t kMlpRows = 1024;
// Rows of logits at a time that only predictions need: enough for the product of the head to be efficient.
constexpr std::int64_t kPredictedRows = 64;

// Room for the row normalisers where somebody looks; bias and scale where somebody changes.
void attach(LayerObservation& observation, std::int64_t heads, ops::AttentionSequence& sequence) {
  if (observation.request.needs_normaliser()) {
    observation.row_top.resize(static_cast<size_t>(heads * sequence.query_rows));
    observation.row_sum.resize(static_cast<size_t>(heads * sequence.query_rows));
    sequence.row_top = observation.row_top.data();
    sequence.row_sum = observation.row_sum.data();
  }
  const probe::Change& change = observation.change;
  if (!change.key_bias.empty()) {
    const auto size = static_cast<std::int64_t>(change.key_bias.size());
    BUOY_CHECK(size == sequence.key_rows || size == heads * sequence.key_rows);
    sequence.key_bias = change.key_bias.data();
    sequence.key_bias_stride = size == sequence.key_rows ? 0 : sequence.key_rows;
  }
  if (!change.head_scale.empty()) {
    BUOY_CHECK(static_cast<std::int64_t>(change.head_scale.size()) == heads);
    sequence.head_scale = change.head_scale.data();
  }
}

}  // namespace

Model Model::load(const std::filesystem::path& folder, Device device) {
  Checkpoint checkpoint = Checkpoint::open(folder);
  const FamilyTraits traits = traits_of(checkpoint.config().family);
  ModelWeights weights = load_weights(checkpoint, traits);
  Model model(std::make_shared<const Loaded>(Loaded{std::move(checkpoint), traits, std::move(weights)}));
  if (device == Device::kCuda) {
    model.pass_ = std::make_unique<DevicePass>(model.config(),
                                               DeviceWeights::load(model.config(), model.loaded_->weights));
  }
  return model;
}

Model Model::untrained(const std::filesystem::path& folder, std::uint64_t seed, Device device) {
  Checkpoint checkpoint = Checkpoint::without_weights(folder);
  const FamilyTraits traits = traits_of(checkpoint.config().family);
  const Initialisation how = initialisation_of(folder, seed);
  UntrainedWeights made = make_untrained(checkpoint.config(), traits, how);
  std::unique_ptr<DevicePass> pass;
  if (device == Device::kCuda) {
    pass = std::make_unique<DevicePass>(checkpoint.config(),
                                        DeviceWeights::load(checkpoint.config(), made.weights));
    made = {};  // the card has them
  }
  Model model(std::make_shared<const Loaded>(
      Loaded{std::move(checkpoint), traits, std::move(made.weights), how, std::move(made.storage)}));
  model.pass_ = std::move(pass);
  return model;
}

std::string Model::stored_types() const {
  return initialisation() ? std::string(name_of(kMadeType)) : checkpoint().stored_types();
}

Model::~Model() = default;
Model::Model(Model&&) noexcept = default;

KvCache Model::new_cache() const {
  if (pass_ != nullptr) return pass_->new_cache();
  return {config().layers, config().kv_heads * config().head_dim};
}

Model::Model(std::shared_ptr<const Loaded> loaded)
    : loaded_(std::move(loaded)),
      rope_(rope_frequencies_of(config().rope)),
      rotary_scales_(rotary_scales_of(config().rope)) {}

Model Model::sibling() const {
  BUOY_CHECK(pass_ == nullptr);
  return Model(loaded_);
}

const float* Model::forward(const Context& context, std::span<const SequenceInput> sequences,
                            probe::Probe* probe) {
  check_inputs(sequences, probe != nullptr);
  ++passes_;
  if (pass_ != nullptr) {
    try {
      return pass_->logits(context, sequences, probe);
    } catch (const NonFinite& found) {
      throw_non_finite(found.where);
    }
  }
  PackedBatch packed(sequences);
  Predictions predictions(packed, config(), probe);
  const PredictedLogits predicted(packed, predictions);
  const auto wanted = std::ssize(packed.logit_rows);
  packed.logit_rows.insert(packed.logit_rows.end(), predicted.extra.begin(), predicted.extra.end());
  rope_.grow(*std::max_element(packed.positions.begin(), packed.positions.end()) + 1);
  embed(context, packed);
  RowsAfterAttention rows{work_.hidden.data(), work_.attended.data(), packed.rows()};
  for (std::int64_t layer = 0; layer < config().layers; ++layer) {
    auto observations =
        probe != nullptr ? ask(config().heads, layer, sequences, *probe) : std::vector<LayerObservation>();
    ResidualStream stream(config().hidden, packed, observations);
    if (stream.any()) stream.pass(probe::ResidualPoint::kPre, stream_rows(rows, rows.hidden));
    auto records = attention_layer(context, layer, packed, observations, probe);
    if (stream.any())
      stream.read_head_out({work_.attended.data(), 0, packed.rows(), config().heads * config().head_dim});
    // Behind the last attention a row is read by nobody but its own logits, and who looks at the stream.
    if (layer + 1 == config().layers) rows = wanted_rows(context, packed, stream.rows_behind_attention());
    add_attention(context, layer, rows, stream);
    mlp_layer(context, layer, rows, stream);
    if (stream.any()) stream.pass(probe::ResidualPoint::kPost, stream_rows(rows, rows.hidden));
    for (auto& [n, record] : records) {
      if (observations[n].request.routing) record.routing = routing_of(layer, packed, n, rows.packed);
      if (observations[n].request.residual.any()) {
        record.residual =
            stream.finish(n, [&](std::span<const float> states, std::int64_t top,
                                 probe::ResidualRecord& out) { lens(context, states, top, out); });
      }
      probe->take(observations[n].address, std::move(record));
    }
  }
  for (const auto& sequence : sequences) {
    if (sequence.cache == nullptr || sequence.replaces_from) continue;
    if (sequence.extends_cache) {
      sequence.cache->advance(sequence.rows());
    } else {
      sequence.cache->drop_appended();
    }
  }

  // The rows that were asked for come first, then those that only predictions need.
  const std::int64_t measured = std::ssize(packed.logit_rows);
  float* normed = work_.normed.data();
  ops::rms_norm(context, {rows.hidden, measured, config().hidden, loaded_->weights.final_norm.data(),
                          config().norm_eps, normed});
  float* asked = work_.logits.reserve(static_cast<size_t>(wanted * config().vocabulary));
  const auto head = [&](std::int64_t first, std::int64_t count, float* output) {
    linear(context, normed + first * config().hidden, count, loaded_->weights.head, {}, output);
    require_finite(context, output, count * config().vocabulary, "the logits");
    measure_predictions(context, predicted, predictions, {output, first, count});
  };
  head(0, wanted, asked);
  // Rows that nobody else needs, a few at a time.
  for (std::int64_t first = wanted; first < measured; first += kPredictedRows) {
    const std::int64_t count = std::min(kPredictedRows, measured - first);
    head(first, count, work_.predicted.reserve(static_cast<size_t>(count * config().vocabulary)));
  }
  if (predictions.any()) predictions.hand_over(*probe);
  return asked;
}

void Model::measure_predictions(const Context& context, const PredictedLogits& predicted,
                                Predictions& predictions, const LogitsAt& at) const {
  const std::int64_t vocabulary = config().vocabulary;
  context.threads.run(std::ssize(predicted.logits_row), [&](std::int64_t row, int) {
    const std::int64_t place = predicted.logits_row[static_cast<size_t>(row)] - at.first;
    if (place < 0 || place >= at.count) return;
    predictions.measure(row, {at.logits + place * vocabulary, static_cast<size_t>(vocabulary)});
  });
}

Model::RowsAfterAttention Model::wanted_rows(const Context& context, const PackedBatch& packed,
                                             const std::vector<std::int64_t>& looked_at) {
  const std::int64_t hidden = config().hidden, width = config().heads * config().head_dim;
  std::vector<std::int64_t> wanted = packed.logit_rows;
  wanted.insert(wanted.end(), looked_at.begin(), looked_at.end());
  const std::int64_t count = std::ssize(wanted);
  const auto in_place = [&] {
    for (std::int64_t i = 0; i < count; ++i) {
      if (wanted[static_cast<size_t>(i)] != i) return false;
    }
    return true;
  };
  if (in_place()) return {work_.hidden.data(), work_.attended.data(), count};
  reserve_rows(count);
  float* streams = work_.wanted.reserve(static_cast<size_t>(count * hidden));
  float* attended = work_.wanted_attended.reserve(static_cast<size_t>(count * width));
  context.threads.run(count, [&](std::int64_t i, int) {
    const std::int64_t row = wanted[static_cast<size_t>(i)];
    std::copy_n(work_.hidden.data() + row * hidden, hidden, streams + i * hidden);
    std::copy_n(work_.attended.data() + row * width, width, attended + i * width);
  });
  return {streams, attended, count, std::move(wanted)};
}

std::span<const ops::RowChoice> Model::choose(const Context& context,
                                              std::span<const SequenceInput> sequences,
                                              std::span<const ops::ChoiceRule> rules, probe::Probe* probe) {
  BUOY_CHECK(pass_ != nullptr);
  check_inputs(sequences, probe != nullptr);
  ++passes_;
  try {
    return pass_->choices(context, sequences, rules, probe);
  } catch (const NonFinite& found) {
    throw_non_finite(found.where);
  }
}

void Model::embed(const Context& context, const PackedBatch& packed) {
  const std::int64_t hidden = config().hidden;
  const auto rows = static_cast<size_t>(packed.rows());
  const auto queries = static_cast<size_t>(config().heads * config().head_dim);
  const auto keys = static_cast<size_t>(config().kv_heads * config().head_dim);
  float* out = work_.hidden.reserve(rows * static_cast<size_t>(hidden));
  work_.queries.reserve(rows * queries);
  work_.keys.reserve(rows * keys);
  work_.values.reserve(rows * keys);
  work_.attended.reserve(rows * queries);
  reserve_rows(std::max(packed.rows(), std::ssize(packed.logit_rows)));
  context.threads.run(packed.rows(), [&](std::int64_t row, int) {
    to_float(loaded_->weights.embedding, packed.tokens[static_cast<size_t>(row)] * hidden, hidden,
             out + row * hidden);
  });
}

// What rows need outside the attention.
void Model::reserve_rows(std::int64_t count) {
  work_.normed.reserve(static_cast<size_t>(count * config().hidden));
  const auto mlp = static_cast<size_t>(std::min(count, kMlpRows) * widest_mlp(config()));
  work_.gate.reserve(mlp);
  work_.up.reserve(mlp);
}

Model::UnfinishedRecords Model::attention_layer(const Context& context, std::int64_t number,
                                                const PackedBatch& packed,
                                                std::vector<LayerObservation>& observations,
                                                probe::Probe* probe) {
  const ModelConfig& c = config();
  const LayerWeights& layer = loaded_->weights.layers[static_cast<size_t>(number)];
  const std::int64_t rows = packed.rows(), query_width = c.heads * c.head_dim,
                     key_width = c.kv_heads * c.head_dim;
  float *normed = work_.normed.data(), *queries = work_.queries.data(), *keys = work_.keys.data(),
        *values = work_.values.data(), *attended = work_.attended.data();

  ops::rms_norm(context,
                {work_.hidden.data(), rows, c.hidden, layer.attention_norm.data(), c.norm_eps, normed});
  linear(context, normed, rows, layer.query, layer.query_bias, queries);
  linear(context, normed, rows, layer.key, layer.key_bias, keys);
  linear(context, normed, rows, layer.value, layer.value_bias, values);
  if (!layer.query_norm.empty()) {
    ops::rms_norm(context,
                  {queries, rows * c.heads, c.head_dim, layer.query_norm.data(), c.norm_eps, queries});
    ops::rms_norm(context, {keys, rows * c.kv_heads, c.head_dim, layer.key_norm.data(), c.norm_eps, keys});
  }
  if (rotary_scales_.any()) {
    ops::scale_rows(context, rotary_scales_, {queries, query_width, packed.positions, true});
    ops::scale_rows(context, rotary_scales_, {keys, key_width, packed.positions});
  }
  keep_unrotated(packed, observations);
  ops::rope(context, rope_, {queries, c.heads, c.head_dim, packed.positions});
  ops::rope(context, rope_, {keys, c.kv_heads, c.head_dim, packed.positions});
  // The softmax would swallow a NaN score, so it is caught before.
  require_finite(context, queries, rows * query_width, fmt::format("the queries of layer {}", number));
  require_finite(context, keys, rows * key_width, fmt::format("the keys of layer {}", number));

  for (size_t n = 0; n < packed.sequences.size(); ++n) {
    const std::int64_t first = packed.first_rows[n] * key_width;
    const SequenceInput& input = packed.sequences[n];
    if (input.replaces_from) {
      input.cache->replace(number, input.past(), keys + first, values + first, input.rows());
    } else if (input.cache != nullptr) {
      input.cache->append(number, keys + first, values + first, input.rows());
    }
  }
  // Behind all that moves what is kept: two sequences may share a cache.
  std::vector<ops::AttentionSequence> sequences;
  for (size_t n = 0; n < packed.sequences.size(); ++n) {
    const std::int64_t first = packed.first_rows[n];
    const SequenceInput& input = packed.sequences[n];
    const std::int64_t count = input.rows(), past = input.past();
    const KvCache* cache = input.cache;
    const BlockGrid grid = grid_of(c, input);
    ops::AttentionSequence sequence{
        .queries = queries + first * query_width,
        .query_rows = count,
        .first_position = past,
        .keys = cache != nullptr ? cache->keys(number) : keys + first * key_width,
        .values = cache != nullptr ? cache->values(number) : values + first * key_width,
        .key_rows = input.key_rows(),
        .key_bias = nullptr,
        .output = attended + first * query_width,
        .row_top = nullptr,
        .row_sum = nullptr,
        .prefix = input.prefix_length(),
        .block = grid.block,
        .grid_origin = grid.origin,
        .before_grid = grid.before};
    if (!observations.empty()) attach(observations[n], c.heads, sequence);
    sequences.push_back(sequence);
  }
  const ops::AttentionShape shape{c.heads, c.kv_heads, c.head_dim, {mask_kind(c, packed.sequences), 0}};
  ops::attention(context, shape, sequences, work_.attention);
  unrotate_past(context, packed, number, observations);
  UnfinishedRecords unfinished;
  for (size_t n = 0; n < observations.size(); ++n) {
    if (!observations[n].request.any()) continue;
    auto record = measure(context, shape, sequences[n], observations[n]);
    if (observations[n].request.behind_attention()) {
      unfinished.emplace_back(n, std::move(record));
    } else {
      probe->take(observations[n].address, std::move(record));
    }
  }
  return unfinished;
}

void Model::add_attention(const Context& context, std::int64_t number, const RowsAfterAttention& rows,
                          ResidualStream& stream) {
  float* normed = work_.normed.data();
  linear(context, rows.attended, rows.count,
         loaded_->weights.layers[static_cast<size_t>(number)].attention_out, {}, normed);
  if (stream.any()) stream.read_attention_out(stream_rows(rows, normed));
  ops::add(context, rows.hidden, normed, rows.count * config().hidden);
  if (stream.any()) stream.pass(probe::ResidualPoint::kMid, stream_rows(rows, rows.hidden));
}

void Model::mlp_layer(const Context& context, std::int64_t number, const RowsAfterAttention& all,
                      ResidualStream& residual) {
  const ModelConfig& c = config();
  const LayerWeights& layer = loaded_->weights.layers[static_cast<size_t>(number)];
  if (layer.mixture.any()) reserve_routed(all.count);
  for (std::int64_t first = 0; first < all.count; first += kMlpRows) {
    const std::int64_t rows = std::min(kMlpRows, all.count - first);
    float* stream = all.hidden + first * c.hidden;
    float* normed = work_.normed.data();
    if (residual.leaves_out_mlp() && !residual.reads_routing()) {
      std::fill_n(normed, rows * c.hidden, 0.0f);
    } else {
      ops::rms_norm(context, {stream, rows, c.hidden, layer.mlp_norm.data(), c.norm_eps, normed});
      if (layer.mixture.any()) {
        mixture_mlp(context, number, first, rows, normed);
      } else {
        plain_mlp(context, layer, rows, normed);
      }
    }
    if (residual.any()) residual.pass_mlp_out({normed, first, rows, c.hidden, all.packed});
    ops::add(context, stream, normed, rows * c.hidden);
  }
}

void Model::linear(const Context& context, const float* input, std::int64_t rows, const Weight& weight,
                   const std::vector<float>& bias, float* output) {
  ops::linear(context, {input, rows, &weight, bias.empty() ? nullptr : bias.data(), output}, work_.linear);
}

void Model::require_finite(const Context& context, const float* values, std::int64_t count,
                           const std::string& where) const {
  if (!ops::all_finite(context, values, count)) throw_non_finite(where);
}

void Model::throw_non_finite(const std::string& where) const {
  const std::string culprit = loaded_->checkpoint.find_non_finite();
  throw_input_error({fmt::format("{}: {}", loaded_->checkpoint.folder().string(), where), "finite numbers",
                     culprit.empty() ? "a NaN or an infinity although all weights are finite (overflow)"
                                     : fmt::format("a NaN or an infinity; tensor {} holds one", culprit)});
}

}  // namespace buoy::model
