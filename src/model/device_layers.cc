#include "model/device_pass_state.h"
#include "ops/elementwise_cuda.h"
#include "ops/norm_cuda.h"

namespace buoy::model {

void DevicePass::State::queue_layers(const Context& context) {
  fill_bytes(stream, work.flag, 0x7f, sizeof(std::int32_t));
  ops::embed_cuda(stream, {weights.embedding(), work.tokens, batch->rows(), config.hidden, work.hidden});
  for (std::int64_t layer = 0; layer < config.layers; ++layer) {
    queue_attention(context, layer);
    queue_mlp(layer);
  }
}

DeviceStates DevicePass::State::states(std::int64_t layer) const {
  const std::int64_t query_width = config.heads * config.head_dim,
                     key_width = config.kv_heads * config.head_dim;
  const std::int64_t stride = query_width + 2 * key_width;
  DeviceStates out;
  ops::CudaAttentionInputs& rotated = out.rotated;
  rotated.queries = work.qkv;
  rotated.query_stride = stride;
  rotated.query_buffer_rows = work.rows();
  if (cached) {
    rotated.keys = pool->keys(layer);
    rotated.values = pool->values(layer);
    rotated.key_stride = rotated.value_stride = key_width;
    rotated.key_buffer_rows = pool->rows();
  } else {
    rotated.keys = work.qkv + query_width;
    rotated.values = work.qkv + query_width + key_width;
    rotated.key_stride = rotated.value_stride = stride;
    rotated.key_buffer_rows = work.rows();
  }
  if (unrotated.data() == nullptr) return out;
  ops::CudaAttentionInputs& before = out.unrotated = rotated;
  before.queries = unrotated.as<std::uint16_t>();
  before.query_stride = query_width + key_width;
  before.keys = cached ? unrotated_past.as<std::uint16_t>() : before.queries + query_width;
  before.key_stride = cached ? key_width : before.query_stride;
  return out;
}

void DevicePass::State::queue_attention(const Context& context, std::int64_t number) {
  const DeviceLayerWeights& layer = weights.layer(number);
  const std::int64_t rows = batch->rows(), query_width = config.heads * config.head_dim,
                     key_width = config.kv_heads * config.head_dim;
  ops::rms_norm_cuda(stream, {work.hidden, nullptr, rows, config.hidden, layer.attention_norm,
                              config.norm_eps, work.normed});
  if (observer.watching()) observer.wait_measured(stream);
  linear.multiply(stream, {work.normed, rows, layer.qkv, config.hidden, query_width + 2 * key_width, work.qkv,
                           ops::LinearOutput::kBf16});
  ops::DeviceQkvArgs qkv{work.qkv,        rows,         config.heads,  config.kv_heads,
                         config.head_dim, rope_table(), work.positions};
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
  const bool watched = observer.watching();
  if (watched) grow_for(observer.wants(number));
  const bool before = watched && observer.wants(number).qk_before;
  if (before) {
    const auto buffer_rows = static_cast<size_t>(work.rows());
    qkv.unrotated = static_cast<std::uint16_t*>(unrotated.reserve(
        buffer_rows * static_cast<size_t>(query_width + key_width) * sizeof(std::uint16_t)));
  }
  ops::finish_qkv_cuda(stream, qkv);
  if (before && cached) {
    auto* past = unrotated_past.as<std::uint16_t>();
    for (const auto& input : inputs) {
      const std::int64_t first = input.cache->first_pool_row() * key_width;
      ops::unrotate_cuda(stream, {pool->keys(number) + first, input.past() + input.rows(), 0, config.kv_heads,
                                  config.head_dim, rope_table(), past + first});
    }
  }

  DeviceStates now = states(number);
  ops::CudaAttentionOutputs outputs;
  outputs.output = work.attended;
  outputs.output_stride = query_width;
  if (watched) observer.begin_layer(context, stream, number, *plan, now.rotated, outputs);
  ops::attention_cuda(*plan, now.rotated, outputs, stream);
  if (watched) observer.end_layer(stream, number, *plan, now, work.attended);
  linear.multiply(stream, {work.attended, rows, layer.attention_out, query_width, config.hidden, work.hidden,
                           ops::LinearOutput::kAddFloat});
}

void DevicePass::State::queue_mlp(std::int64_t number) {
  const DeviceLayerWeights& layer = weights.layer(number);
  const std::int64_t rows = batch->rows(), mlp = config.mlp_hidden;
  ops::rms_norm_cuda(
      stream, {work.hidden, nullptr, rows, config.hidden, layer.mlp_norm, config.norm_eps, work.normed});
  linear.multiply(stream, {work.normed, rows, layer.gate_up, config.hidden, 2 * mlp, work.gate_up,
                           ops::LinearOutput::kBf16});
  ops::swiglu_cuda(stream, {work.gate_up, rows, mlp, work.activated});
  linear.multiply(stream, {work.activated, rows, layer.down, mlp, config.hidden, work.hidden,
                           ops::LinearOutput::kAddFloat});
}

void DevicePass::State::queue_logits(std::int64_t first, std::int64_t count) {
  const std::int64_t padded = std::min(DeviceWorkspace::padded_logit_rows(count), work.logit_chunk());
  ops::rms_norm_cuda(stream, {work.hidden, work.logit_rows + first, padded, config.hidden,
                              weights.final_norm(), config.norm_eps, work.normed});
  linear.multiply(stream, {work.normed, padded, weights.head(), config.hidden, config.vocabulary, work.logits,
                           ops::LinearOutput::kFloat});
}

}  // namespace buoy::model
