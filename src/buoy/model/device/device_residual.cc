// The residual stream on a device: rows that are read and changed between the parts of a layer, and the lens.
#include <algorithm>

#include "buoy/base/error.h"
#include "buoy/model/device/device_pass_state.h"
#include "buoy/model/residual_stream.h"
#include "buoy/ops/pointwise/elementwise_cuda.h"
#include "buoy/ops/pointwise/norm_cuda.h"
#include "buoy/ops/pointwise/rows_cuda.h"
#include "buoy/ops/sampling/top_tokens_cuda.h"

namespace buoy::model {

using probe::ResidualPoint;

// The numbers of the rows and room for the lens. True when one of the buffers moved.
bool DeviceObserver::prepare_residual(const Stream& stream, const LayerWants& wanted) {
  const void* before[] = {stream_rows_.data(), lens_normed_.data(), lens_logits_.data()};
  if (!streams_in_place(wanted)) {
    // Padded as the rows of logits are, which products of few different heights read.
    std::vector<std::int32_t> rows = wanted.stream_rows;
    rows.insert(rows.end(), static_cast<size_t>(kLensRows), rows.back());
    placed_rows_.clear();  // should there be no room
    copy_to_device(stream, stream_rows_.reserve(rows.size() * sizeof(std::int32_t)), rows.data(),
                   rows.size() * sizeof(std::int32_t));
    placed_rows_ = wanted.stream_rows;
  }
  if (wanted.stream.lens > 0) {
    BUOY_CHECK(wanted.stream.lens <= config_.vocabulary);
    lens_normed_.reserve(static_cast<size_t>(kLensRows * config_.hidden) * sizeof(std::uint16_t));
    lens_logits_.reserve(static_cast<size_t>(kLensRows * config_.vocabulary) * sizeof(float));
  }
  return before[0] != stream_rows_.data() || before[1] != lens_normed_.data() ||
         before[2] != lens_logits_.data();
}

void DeviceObserver::upload_residual_changes(const Stream& stream, const LayerWants& wanted) {
  std::vector<std::int32_t> rows;
  std::vector<float> values, scales;
  placed_changes_.clear();
  for (size_t n = 0; n < wanted.observations.size(); ++n) {
    const probe::Change& change = wanted.observations[n].change;
    scales.push_back(change.mlp_scale);
    for (const auto& one : change.residual) {
      const bool alike = std::ssize(one.values) == config_.hidden;
      BUOY_CHECK(alike || std::ssize(one.values) == std::ssize(one.rows) * config_.hidden);
      placed_changes_.push_back(
          {one.at, one.replace, alike, std::ssize(rows), std::ssize(one.rows), std::ssize(values)});
      BUOY_CHECK(are_rows_of(one.rows, batch_->sequences[n].rows()));
      for (const auto row : one.rows) rows.push_back(static_cast<std::int32_t>(batch_->first_rows[n]) + row);
      values.insert(values.end(), one.values.begin(), one.values.end());
    }
  }
  const auto upload = [&](DeviceMemory& to, const auto& from) {
    const size_t bytes = from.size() * sizeof(from[0]);
    if (bytes > 0) copy_to_device(stream, to.reserve(bytes), from.data(), bytes);
  };
  upload(change_rows_, rows);
  upload(change_values_, values);
  upload(mlp_scale_, scales);
}

void DeviceObserver::pass_residual(const Stream& stream, std::int64_t layer, ResidualPoint point,
                                   float* hidden) {
  const LayerWants& wanted = wants(layer);
  const auto gather = [&](bool wish, std::int64_t offset) {
    if (!wish || !wanted.reads_residual()) return;
    ops::gather_rows_cuda(stream,
                          {hidden, nullptr, stream_rows_.as<std::int32_t>(), std::ssize(wanted.stream_rows),
                           config_.hidden, slot(layer).device.as<float>() + offset});
  };
  const ObservationLayout& layout = slot(layer).layout;
  gather(wanted.stream.after_attention && point == ResidualPoint::kMid, layout.after_attention);
  gather(wanted.stream.after_mlp && point == ResidualPoint::kPost, layout.after_mlp);
  if (wanted.residual_changed) {
    for (const PlacedChange& change : placed_changes_) {
      if (change.at != point) continue;
      ops::change_rows_cuda(
          stream, {hidden, change_rows_.as<std::int32_t>() + change.first_row, change.count, config_.hidden,
                   change_values_.as<float>() + change.first_value, change.alike, change.replace});
    }
  }
  gather(wanted.stream.pre && point == ResidualPoint::kPre, layout.pre);
  gather(wanted.stream.mid && point == ResidualPoint::kMid, layout.mid);
  gather(wanted.stream.post && point == ResidualPoint::kPost, layout.post);
}

void DeviceObserver::gather_heads(const Stream& stream, std::int64_t layer, const std::uint16_t* attended) {
  const LayerWants& wanted = wants(layer);
  if (!wanted.stream.head_out) return;
  ops::gather_rows_cuda(stream, {nullptr, attended, stream_rows_.as<std::int32_t>(),
                                 std::ssize(wanted.stream_rows), config_.heads * config_.head_dim,
                                 slot(layer).device.as<float>() + slot(layer).layout.head_out});
}

bool DeviceObserver::leaves_out_mlp(std::int64_t layer) {
  const LayerWants& wanted = wants(layer);
  return wanted.residual_changed &&
         std::all_of(wanted.observations.begin(), wanted.observations.end(),
                     [](const LayerObservation& one) { return one.change.mlp_scale == 0.0f; });
}

void DeviceObserver::scale_mlp(const Stream& stream, std::int64_t layer, std::uint16_t* activated,
                               std::int64_t width) {
  const LayerWants& wanted = wants(layer);
  if (!wanted.residual_changed) return;
  for (size_t n = 0; n < wanted.observations.size(); ++n) {
    const float scale = wanted.observations[n].change.mlp_scale;
    std::uint16_t* rows = activated + batch_->first_rows[n] * width;
    const std::int64_t count = batch_->sequences[n].rows();
    if (scale == 0.0f) {
      fill_bytes(stream, rows, 0, static_cast<size_t>(count * width) * sizeof(std::uint16_t));
    } else if (scale != 1.0f) {
      ops::scale_heads_cuda(stream, {rows, count, 1, width, mlp_scale_.as<float>() + n});
    }
  }
}

const float* DeviceObserver::scaled_routing(const Stream& stream, std::int64_t layer, const float* weights,
                                            float* room) {
  const LayerWants& wanted = wants(layer);
  if (!wanted.residual_changed) return weights;
  const std::int64_t chosen = config_.experts->chosen;
  for (size_t n = 0; n < wanted.observations.size(); ++n) {
    const std::int64_t first = batch_->first_rows[n] * chosen;
    ops::scale_numbers_cuda(stream, {weights + first, batch_->sequences[n].rows() * chosen,
                                     mlp_scale_.as<float>() + n, room + first});
  }
  return room;
}

std::optional<DeviceObserver::Routing> DeviceObserver::routing(std::int64_t layer) {
  if (!wants(layer).routing()) return std::nullopt;
  float* results = slot(layer).device.as<float>();
  const ObservationLayout& layout = slot(layer).layout;
  return Routing{reinterpret_cast<std::int32_t*>(results + layout.routed), results + layout.routed_weights,
                 results + layout.router_entropy};
}

DeviceObserver::Lens DeviceObserver::lens(std::int64_t layer) {
  const LayerWants& wanted = wants(layer);
  if (wanted.stream.lens == 0 || !wanted.reads_residual()) return {};
  float* results = slot(layer).device.as<float>();
  const ObservationLayout& layout = slot(layer).layout;
  return {stream_rows_.as<std::int32_t>(),
          std::ssize(wanted.stream_rows),
          wanted.stream.lens,
          lens_normed_.as<std::uint16_t>(),
          lens_logits_.as<float>(),
          reinterpret_cast<std::int32_t*>(results + layout.lens_tokens),
          results + layout.lens_probabilities};
}

void DevicePass::State::queue_residual(std::int64_t layer, ResidualPoint point) {
  if (!observer.watching()) return;
  observer.pass_residual(stream, layer, point, work.hidden);
  if (point == ResidualPoint::kPost) queue_lens(layer);
}

// The final norm and the head on a few rows at a time: no more logits than these exist.
void DevicePass::State::queue_lens(std::int64_t layer) {
  const DeviceObserver::Lens lens = observer.lens(layer);
  for (std::int64_t first = 0; first < lens.rows; first += DeviceObserver::kLensRows) {
    const std::int64_t count = std::min(DeviceObserver::kLensRows, lens.rows - first);
    const std::int64_t padded = DeviceWorkspace::padded_logit_rows(count);
    ops::rms_norm_cuda(stream, {work.hidden, lens.chosen + first, padded, config.hidden, weights.final_norm(),
                                config.norm_eps, lens.normed});
    ops::DeviceLinearArgs product = head(padded);
    product.input = lens.normed;
    product.output = lens.logits;
    linear.multiply(stream, product);
    ops::top_tokens_cuda(stream,
                         {lens.logits, count, config.vocabulary, lens.top, lens.tokens + first * lens.top,
                          lens.probabilities + first * lens.top},
                         {work.flag, not_finite_lens()});
  }
}

}  // namespace buoy::model
