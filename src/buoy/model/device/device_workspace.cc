#include "buoy/model/device/device_workspace.h"

#include <algorithm>

#include "buoy/model/device/device_arena.h"
#include "buoy/model/device/device_observer.h"
#include "buoy/model/layer_wants.h"
#include "buoy/ops/experts/experts_cuda.h"
#include "buoy/ops/linear/linear_cuda.h"

namespace buoy::model {
namespace {

constexpr std::int64_t kMostRouterParts = 2;

}  // namespace

std::int64_t DeviceWorkspace::largest_chunk(const ModelConfig& config) {
  constexpr std::int64_t kBytes = std::int64_t{1} << 30;
  const std::int64_t rows = kBytes / static_cast<std::int64_t>(sizeof(float)) / config.vocabulary;
  return std::max<std::int64_t>(128, rows / 128 * 128);
}

std::int64_t DeviceWorkspace::padded_logit_rows(std::int64_t wanted) {
  if (wanted <= 1) return wanted;
  return rounded_up(wanted, wanted <= 64 ? 8 : wanted <= 512 ? 32 : 128);
}

bool DeviceWorkspace::reserve(const ModelConfig& config, std::int64_t rows, std::int64_t wanted) {
  const std::int64_t chunk = std::min(largest_chunk(config), padded_logit_rows(wanted));
  if (rows <= rows_ && wanted <= logit_rows_ && chunk <= logit_chunk_) return false;
  // A little more than asked, so that prompts of growing length do not each move everything.
  if (rows > rows_) rows_ = rounded_up(rows, 256);
  if (wanted > logit_rows_) logit_rows_ = rounded_up(wanted, 256);
  logit_chunk_ = std::min(largest_chunk(config), padded_logit_rows(logit_rows_));
  memory_ = DeviceMemory();
  try {
    lay_out(config, memory_.reserve(lay_out(config, nullptr)));
  } catch (...) {
    rows_ = logit_rows_ = logit_chunk_ = 0;  // a smaller batch may still fit
    throw;
  }
  // Attention may read rows past the last one and must find finite numbers.
  const Stream stream;
  fill_bytes(stream, memory_.data(), 0, memory_.bytes());
  stream.synchronize();
  return true;
}

std::size_t DeviceWorkspace::lay_out(const ModelConfig& c, void* base) {
  DeviceArena arena(base);
  const std::int64_t padded = logit_rows_ + 128;
  const std::int64_t query_width = c.heads * c.head_dim, qkv_width = (c.heads + 2 * c.kv_heads) * c.head_dim;
  hidden = arena.take<float>(rows_ * c.hidden);
  normed = arena.take<std::uint16_t>(std::max(rows_, logit_chunk_) * c.hidden);
  // Attention and MLP share nothing: a layer's queries and keys are measured while its MLP runs.
  constexpr std::int64_t kWaiting = DeviceObserver::kMostRowsThatWait * DeviceObserver::kMostAtOnce;
  qkv = arena.take<std::uint16_t>(std::max(rows_, kWaiting) * qkv_width);
  attended = arena.take<std::uint16_t>(rows_ * query_width);
  // Layers may have MLPs of two widths, which take the library's way up to different rows.
  std::int64_t scratch = 0;
  const std::int64_t shared = c.experts ? c.experts->shared_width : 0;
  for (const std::int64_t width : {c.mlp_hidden, shared}) {
    if (width == 0 || width > widest_mlp(c)) continue;
    scratch = std::max(scratch, ops::DeviceLinear::scratch_rows(rows_, c.hidden, 2 * width) * 2 * width);
  }
  gate_up = arena.take<std::uint16_t>(scratch);
  activated = arena.take<std::uint16_t>(rows_ * widest_mlp(c));
  if (c.experts) {
    const ExpertConfig& e = *c.experts;
    const std::int64_t pairs = rows_ * e.chosen;
    router_logits = arena.take<float>(rows_ * kMostRouterParts * e.count);
    routed = arena.take<std::int32_t>(pairs);
    routed_weights = arena.take<float>(pairs);
    expert_first = arena.take<std::int32_t>(e.count + 1);
    pair_source = arena.take<std::int32_t>(pairs);
    pair_place = arena.take<std::int32_t>(pairs);
    pair_counts = arena.take<std::uint8_t>(ops::pair_counts(rows_, e.count));
    expert_returned = arena.take<std::uint16_t>(pairs * c.hidden);
    expert_activated = arena.take<std::uint16_t>(pairs * e.width);
  }
  logits = arena.take<float>(logit_chunk_ * c.vocabulary);
  tokens = arena.take<std::int32_t>(rows_);
  positions = arena.take<std::int32_t>(rows_);
  cache_rows = arena.take<std::int32_t>(rows_);
  logit_rows = arena.take<std::int32_t>(padded);
  flag = arena.take<std::int32_t>(1);
  rules = arena.take<ops::ChoiceRule>(logit_rows_);
  choices = arena.take<ops::RowChoice>(logit_rows_);
  return arena.used();
}

}  // namespace buoy::model
