#include <algorithm>

#include "buoy/model/device/device_pass_state.h"
#include "buoy/ops/pointwise/elementwise_cuda.h"
#include "buoy/ops/sampling/prediction_cuda.h"

namespace buoy::model {
namespace {

// What predictions of some rows take, on the device and on the host alike.
struct PredictionRoom {
  PredictionRoom(void* base, std::int64_t rows, std::int64_t top)
      : held(static_cast<std::int32_t*>(base)),
        tokens(held + rows),
        values(reinterpret_cast<float*>(tokens + rows * top)),
        probabilities(values + 3 * rows) {}

  static std::size_t bytes(std::int64_t rows, std::int64_t top) {
    return static_cast<std::size_t>(rows * (4 + 2 * top)) * sizeof(float);
  }

  std::int32_t *held, *tokens;    // [rows], [rows, top]
  float *values, *probabilities;  // [rows, 3], [rows, top]
};

}  // namespace

// A product of the head of its own, so that what is chosen has the bits of an unobserved pass.
void DevicePass::State::queue_predictions() {
  if (!predictions->any()) return;
  const auto wanted = std::ssize(batch->logit_rows), rows = std::ssize(predictions->rows());
  const std::int64_t top = predictions->most_top(), vocabulary = config.vocabulary;
  const std::size_t bytes = PredictionRoom::bytes(rows, top);
  if (bytes > predicted.bytes()) stream.synchronize();
  const PredictionRoom room(predicted.reserve(bytes), rows, top);
  const PredictionRoom host(host_predicted.reserve(bytes), rows, top);
  for (std::int64_t i = 0; i < rows; ++i) host.held[i] = predictions->rows()[static_cast<size_t>(i)].held;
  copy_to_device(stream, room.held, host.held, static_cast<std::size_t>(rows) * sizeof(std::int32_t));
  for (std::int64_t first = 0; first < rows; first += work.logit_chunk()) {
    const std::int64_t count = std::min(work.logit_chunk(), rows - first);
    queue_logits(wanted + first, count);
    ops::find_non_finite_cuda(stream, work.logits, count * vocabulary, work.flag, not_finite_logits());
    ops::predict_cuda(stream,
                      {work.logits, count, vocabulary, room.held + first, top, room.values + 3 * first,
                       room.tokens + first * top, room.probabilities + first * top});
  }
  const std::size_t made = bytes - static_cast<std::size_t>(rows) * sizeof(std::int32_t);
  write_to_host(stream, host.tokens, room.tokens, made);
}

// When the pass is over and every number was finite.
void DevicePass::State::hand_over_predictions() {
  if (!predictions->any()) return;
  const auto rows = std::ssize(predictions->rows());
  const auto top = predictions->most_top();
  const PredictionRoom host(host_predicted.data(), rows, top);
  for (std::int64_t i = 0; i < rows; ++i) {
    predictions->put(i, std::span<const float, 3>(host.values + 3 * i, 3),
                     {host.tokens + i * top, static_cast<size_t>(top)},
                     {host.probabilities + i * top, static_cast<size_t>(top)});
  }
  predictions->hand_over(*asking);
}

}  // namespace buoy::model
