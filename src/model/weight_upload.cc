#include "model/weight_upload.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace buoy::model {
namespace {

constexpr std::int64_t kPieceNumbers = std::int64_t{16} << 20, kTaskNumbers = std::int64_t{1} << 18;
constexpr int kPieces = 3;

void convert(const Weight& weight, std::int64_t first, std::int64_t count, std::uint16_t* out) {
  if (weight.dtype == DType::kBF16) {
    std::memcpy(out, weight.data + first * 2, static_cast<size_t>(count) * 2);
    return;
  }
  std::array<float, 1024> part;
  for (std::int64_t done = 0; done < count;) {
    const std::int64_t now = std::min<std::int64_t>(count - done, static_cast<std::int64_t>(part.size()));
    to_float(weight, first + done, now, part.data());
    for (std::int64_t i = 0; i < now; ++i) out[done + i] = float_to_bf16(part[static_cast<size_t>(i)]);
    done += now;
  }
}

}  // namespace

WeightUpload::WeightUpload() : threads_(std::min(16, available_threads())), pieces_(kPieces) {
  for (Piece& piece : pieces_) piece.memory.reserve(kPieceNumbers * sizeof(std::uint16_t));
}

std::uint16_t* WeightUpload::matrix(const Weight& weight, const std::uint16_t* device) {
  // The arena's owner hands out constant pointers; until it is filled nobody reads it.
  auto* to = const_cast<std::uint16_t*>(device);
  for (std::int64_t first = 0; first < weight.size(); first += kPieceNumbers) {
    const std::int64_t count = std::min(kPieceNumbers, weight.size() - first);
    Piece& piece = pieces_[next_++ % pieces_.size()];
    piece.sent.synchronize();
    auto* staged = piece.memory.as<std::uint16_t>();
    threads_.run((count + kTaskNumbers - 1) / kTaskNumbers, [&](std::int64_t task, int) {
      const std::int64_t begin = task * kTaskNumbers;
      convert(weight, first + begin, std::min(kTaskNumbers, count - begin), staged + begin);
    });
    copy_to_device(stream_, to + first, staged, static_cast<size_t>(count) * sizeof(std::uint16_t));
    piece.sent.record(stream_);
  }
  return to + weight.size();
}

void WeightUpload::vector(std::span<const float> values, const float* device) {
  copy_to_device(stream_, const_cast<float*>(device), values.data(), values.size_bytes());
}

}  // namespace buoy::model
