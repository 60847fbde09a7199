#include "buoy/model/device/weight_upload.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "buoy/base/error.h"

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

void WeightUpload::send(std::int64_t count, std::int64_t unit, std::uint16_t* to, const Fill& fill) {
  const std::int64_t piece = kPieceNumbers / unit * unit;
  BUOY_CHECK(piece > 0);
  for (std::int64_t first = 0; first < count; first += piece) {
    const std::int64_t now = std::min(piece, count - first);
    Piece& piece = pieces_[next_++ % pieces_.size()];
    piece.sent.synchronize();
    auto* staged = piece.memory.as<std::uint16_t>();
    threads_.run((now + unit - 1) / unit, [&](std::int64_t task, int) {
      const std::int64_t begin = task * unit;
      fill(first + begin, std::min(unit, now - begin), staged + begin);
    });
    copy_to_device(stream_, to + first, staged, static_cast<size_t>(now) * sizeof(std::uint16_t));
    piece.sent.record(stream_);
  }
}

std::uint16_t* WeightUpload::matrix(const Weight& weight, const std::uint16_t* device) {
  // The arena's owner hands out constant pointers; until it is filled nobody reads it.
  auto* to = const_cast<std::uint16_t*>(device);
  send(weight.size(), kTaskNumbers, to, [&](std::int64_t first, std::int64_t count, std::uint16_t* out) {
    convert(weight, first, count, out);
  });
  return to + weight.size();
}

void WeightUpload::taking_turns(const Weight& one, const Weight& other, std::int64_t rows,
                                const std::uint16_t* device) {
  BUOY_CHECK(one.shape == other.shape && one.rows() % rows == 0);
  const std::int64_t block = rows * one.columns();
  send(2 * one.size(), block, const_cast<std::uint16_t*>(device),
       [&](std::int64_t first, std::int64_t count, std::uint16_t* out) {
         const std::int64_t number = first / block;
         convert(number % 2 == 0 ? one : other, number / 2 * block, count, out);
       });
}

std::vector<PinnedMemory> WeightUpload::finish() {
  stream_.synchronize();
  std::vector<PinnedMemory> pieces;
  for (Piece& piece : pieces_) pieces.push_back(std::move(piece.memory));
  pieces_.clear();
  return pieces;
}

void WeightUpload::vector(std::span<const float> values, const float* device) {
  copy_to_device(stream_, const_cast<float*>(device), values.data(), values.size_bytes());
}

}  // namespace buoy::model
