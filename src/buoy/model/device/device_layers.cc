#include "buoy/model/device/device_pass_state.h"
#include "buoy/ops/experts/experts_cuda.h"
#include "buoy/ops/pointwise/elementwise_cuda.h"
#include "buoy/ops/pointwise/norm_cuda.h"
#include "buoy/ops/sampling/sampling_cuda.h"

namespace buoy::model {

void DevicePass::choose_products(ops::LinearChoice choice) {
  state_->linear.choose(choice);
}

// What comes before the first attention does not depend on what is observed, unless somebody looks at the
// embeddings or changes them.
bool DevicePass::State::projects_early() {
  return !observer.watching() || !observer.wants(0).before_attention();
}

void DevicePass::State::queue_beginning() {
  fill_bytes(stream, work.flag, 0x7f, sizeof(std::int32_t));
  ops::embed_cuda(stream, {weights.embedding(), work.tokens, batch->rows(), config.hidden, work.hidden});
  if (projects_early()) queue_projection(0);
}

void DevicePass::State::queue_layers(std::int64_t first, std::int64_t end) {
  first_together = first;
  for (std::int64_t layer = first; layer < end; ++layer) {
    if (layer > 0 || !projects_early()) {
      queue_residual(layer, probe::ResidualPoint::kPre);
      queue_projection(layer);
    }
    queue_attention(layer);
    if (!behind_last_use(layer)) queue_after_attention(layer);
  }
  observer.wait_measured(stream);
  if (observer.watching()) observer.measure_waiting(stream, *plan);
}

// Queries of layers whose measuring waits lie in places of their own, as what attention leaves for it.
std::int64_t DevicePass::State::lane_of(std::int64_t layer) const {
  return observer.watching() && observer.waits(layer) ? layer - first_together : 0;
}
std::uint16_t* DevicePass::State::qkv_of(std::int64_t layer) const {
  const std::int64_t width = (config.heads + 2 * config.kv_heads) * config.head_dim;
  return work.qkv + lane_of(layer) * DeviceObserver::kMostRowsThatWait * width;
}

// Behind the last attention a state is read by nobody but its logits, and who looks at the residual stream.
bool DevicePass::State::behind_last_use(std::int64_t layer) {
  return layer + 1 == config.layers && batch->logit_rows.empty() && !predictions->any() &&
         !(observer.watching() && observer.wants(layer).behind_attention());
}

// What becomes of the joint projection of queries, keys and values, and where they lie.
ops::DeviceQkvArgs DevicePass::State::qkv_args(std::int64_t number) const {
  const DeviceLayerWeights& layer = weights.layer(number);
  const std::int64_t rows = batch->rows(), query_width = config.heads * config.head_dim,
                     key_width = config.kv_heads * config.head_dim;
  std::uint16_t* const place = qkv_of(number);
  ops::DeviceQkvArgs qkv{ops::qkv_apart(place, rows, query_width, key_width),
                         rows,
                         config.heads,
                         config.kv_heads,
                         config.head_dim,
                         rope_table(),
                         work.positions};
  qkv.bias = layer.qkv_bias;
  qkv.query_norm = layer.query_norm;
  qkv.key_norm = layer.key_norm;
  qkv.eps = config.norm_eps;
  qkv.flag = work.flag;
  qkv.code = static_cast<std::int32_t>(number);
  if (cached) {
    qkv.cache_rows = work.cache_rows;
    qkv.cached_keys = pool->keys(number);
    qkv.cached_values = pool->values(number);
  }
  if (!linear.finishes_qkv(projection(number, qkv)))
    qkv.states = ops::qkv_in_one_row(place, query_width, key_width);
  return qkv;
}

ops::DeviceLinearArgs DevicePass::State::projection(std::int64_t number,
                                                    const ops::DeviceQkvArgs& qkv) const {
  return {.input = work.normed,
          .rows = batch->rows(),
          .weight = weights.layer(number).qkv,
          .inputs = config.hidden,
          .outputs = (config.heads + 2 * config.kv_heads) * config.head_dim,
          .output = qkv_of(number),
          .kind = ops::LinearOutput::kQkv,
          .qkv = &qkv};
}

ops::DeviceAttentionInputs DevicePass::State::states(std::int64_t layer) const {
  const std::int64_t query_width = config.heads * config.head_dim,
                     key_width = config.kv_heads * config.head_dim;
  const ops::QkvPlaces places = qkv_args(layer).states;
  const bool apart = places.query_stride == query_width;
  const bool few = batch->rows() <= DeviceObserver::kMostRowsThatWait;
  const std::int64_t buffer_rows = apart ? batch->rows()
                                   : few ? DeviceObserver::kMostRowsThatWait
                                         : work.rows();
  ops::DeviceAttentionInputs out;
  out.queries = places.queries;
  out.query_stride = places.query_stride;
  out.query_buffer_rows = buffer_rows;
  if (cached) {
    out.keys = pool->keys(layer);
    out.values = pool->values(layer);
    out.key_stride = out.value_stride = key_width;
    out.key_buffer_rows = pool->rows();
  } else {
    out.keys = places.keys;
    out.values = places.values;
    out.key_stride = out.value_stride = places.key_stride;
    out.key_buffer_rows = buffer_rows;
  }
  return out;
}

void DevicePass::State::queue_projection(std::int64_t number) {
  // Before the norm rather than the product, which gains more from starting early.
  observer.wait_measured(stream);
  ops::rms_norm_cuda(stream, {work.hidden, nullptr, batch->rows(), config.hidden,
                              weights.layer(number).attention_norm, config.norm_eps, work.normed});
  const ops::DeviceQkvArgs qkv = qkv_args(number);
  linear.multiply(stream, projection(number, qkv));
}

void DevicePass::State::queue_attention(std::int64_t number) {
  const bool watched = observer.watching();
  DeviceStates now{states(number), rope_table()};
  ops::DeviceAttentionOutputs outputs;
  outputs.output = work.attended;
  outputs.output_stride = config.heads * config.head_dim;
  if (watched) {
    observer.attach(number, now, outputs);
    plan->use_lane(lane_of(number));
  }
  ops::attention_cuda(*plan, now.rotated, outputs, stream);
  if (!watched) return;
  observer.measure(stream, number, *plan, now, work.attended);
  observer.gather_heads(stream, number, work.attended);
}

void DevicePass::State::queue_after_attention(std::int64_t number) {
  const DeviceLayerWeights& layer = weights.layer(number);
  const std::int64_t rows = batch->rows(), mlp = layer.mlp_width;
  linear.multiply(stream, {work.attended, rows, layer.attention_out, config.heads * config.head_dim,
                           config.hidden, work.hidden, ops::LinearOutput::kAddFloat});
  const bool watched = observer.watching();
  if (watched) queue_residual(number, probe::ResidualPoint::kMid);
  if (!watched || !observer.leaves_out_mlp(number) || observer.wants(number).routing()) {
    ops::rms_norm_cuda(
        stream, {work.hidden, nullptr, rows, config.hidden, layer.mlp_norm, config.norm_eps, work.normed});
    if (mlp > 0) {
      linear.multiply(stream, {work.normed, rows, layer.gate_up, config.hidden, 2 * mlp, work.activated,
                               ops::LinearOutput::kSwiglu, work.gate_up});
      if (watched) observer.scale_mlp(stream, number, work.activated, mlp);
      linear.multiply(stream, {work.activated, rows, layer.down, mlp, config.hidden, work.hidden,
                               ops::LinearOutput::kAddFloat});
    }
    if (layer.mixture.any()) queue_experts(number);
  }
  if (watched) queue_residual(number, probe::ResidualPoint::kPost);
}

// What the experts of a layer make of work.normed is added to the stream.
void DevicePass::State::queue_experts(std::int64_t number) {
  const DeviceMixtureWeights& mixture = weights.layer(number).mixture;
  const ExpertConfig& experts = *config.experts;
  const std::int64_t rows = batch->rows();
  DeviceObserver::Routing routing{work.routed, work.routed_weights, nullptr};
  if (observer.watching()) routing = observer.routing(number).value_or(routing);
  linear.multiply(stream, {.input = work.normed,
                           .rows = rows,
                           .weight = mixture.router,
                           .inputs = config.hidden,
                           .outputs = mixture.parts * experts.count,
                           .output = work.router_logits,
                           .kind = ops::LinearOutput::kFloat});
  const ops::DevicePairs sorted{work.expert_first, work.pair_source, work.pair_place, work.pair_counts};
  ops::route_cuda(stream, router_rule_of(experts),
                  {.logits = work.router_logits,
                   .rows = rows,
                   .parts = mixture.parts,
                   .bias = mixture.bias,
                   .experts = routing.experts,
                   .weights = routing.weights,
                   .entropy = routing.entropy,
                   .pairs = sorted,
                   .flag = work.flag,
                   .code = not_finite_router(number)});
  const float* shares = routing.weights;
  if (observer.watching()) shares = observer.scaled_routing(stream, number, shares, work.routed_weights);
  ops::experts_cuda(stream, {.input = work.normed,
                             .rows = rows,
                             .hidden = config.hidden,
                             .experts = experts.count,
                             .chosen = experts.chosen,
                             .width = experts.width,
                             .gate_up = mixture.gate_up,
                             .down = mixture.down,
                             .pairs = sorted,
                             .weights = shares,
                             .activated = work.expert_activated,
                             .returned = work.expert_returned,
                             .output = work.hidden});
}

// The normed states that logits are wanted of, a few more than asked for.
std::int64_t DevicePass::State::queue_chosen_rows(std::int64_t first, std::int64_t count) {
  const std::int64_t padded = std::min(DeviceWorkspace::padded_logit_rows(count), work.logit_chunk());
  ops::rms_norm_cuda(stream, {work.hidden, work.logit_rows + first, padded, config.hidden,
                              weights.final_norm(), config.norm_eps, work.normed});
  return padded;
}

ops::DeviceLinearArgs DevicePass::State::head(std::int64_t rows) const {
  return {.input = work.normed,
          .rows = rows,
          .weight = weights.head(),
          .inputs = config.hidden,
          .outputs = config.vocabulary,
          .output = work.logits,
          .kind = ops::LinearOutput::kFloat};
}

void DevicePass::State::queue_logits(std::int64_t first, std::int64_t count) {
  linear.multiply(stream, head(queue_chosen_rows(first, count)));
}

void DevicePass::State::queue_choices(std::int64_t first, std::int64_t count, bool logits_needed) {
  const std::int32_t code = not_finite_logits();
  const ops::ChoiceRule* rules = work.rules + first;
  ops::DeviceLinearArgs product = head(queue_chosen_rows(first, count));
  if (logits_needed || !linear.finds_best(product.rows, product.inputs, product.outputs)) {
    linear.multiply(stream, product);
    ops::choose_cuda(stream,
                     {work.logits, count, config.vocabulary, rules, work.choices + first, work.flag, code});
    return;
  }
  // No logit is written; what is left of them lies in their place.
  const ops::DeviceBestOfLogits best{rules, count, work.flag, code};
  product.kind = ops::LinearOutput::kBest;
  product.best = &best;
  linear.multiply(stream, product);
  const std::int64_t stretches = (config.vocabulary + ops::kBestStretch - 1) / ops::kBestStretch;
  ops::choose_best_cuda(stream, {reinterpret_cast<const ops::StretchBest*>(work.logits), count, stretches,
                                 rules, work.choices + first});
}

}  // namespace buoy::model
