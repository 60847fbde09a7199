#include "buoy/trace/written_pieces.h"

#include <algorithm>
#include <array>

#include "buoy/base/error.h"

namespace buoy::trace {

WrittenPieces::WrittenPieces(const PlacedFile& file, std::uint64_t size)
    : file_(file),
      size_(size),
      missing_((size + kTreePieceBytes - 1) / kTreePieceBytes),
      digests_(missing_.size()),
      summed_(missing_.size(), 0) {
  for (size_t piece = 0; piece < missing_.size(); ++piece) missing_[piece] = end_of(piece) - begin_of(piece);
}

WrittenPieces::WrittenPieces(const WrittenPieces& shorter, std::uint64_t size)
    : WrittenPieces(shorter.file_, size) {
  for (size_t piece = 0; piece < shorter.missing_.size(); ++piece) {
    missing_[piece] = shorter.missing_[piece] + (end_of(piece) - shorter.end_of(piece));
    if (end_of(piece) != shorter.end_of(piece)) continue;
    digests_[piece] = shorter.digests_[piece];
    summed_[piece] = shorter.summed_[piece];
  }
}

std::uint64_t WrittenPieces::end_of(size_t piece) const {
  return std::min<std::uint64_t>(begin_of(piece + 1), size_);
}

void WrittenPieces::wrote(std::uint64_t offset, std::uint64_t bytes) {
  const std::uint64_t end = offset + bytes;
  BUOY_CHECK(end <= size_);
  for (size_t piece = offset / kTreePieceBytes; offset < end; ++piece) {
    const std::uint64_t part = std::min(end, end_of(piece)) - offset;
    const std::uint64_t before = missing_[piece].fetch_sub(part);
    BUOY_CHECK(before >= part);
    if (before == part) {
      const std::lock_guard lock(mutex_);
      whole_.push_back(piece);
    }
    offset += part;
  }
  sum_some(bytes);
}

void WrittenPieces::sum_some(std::uint64_t wrote) {
  std::vector<size_t> ours;
  {
    const std::lock_guard lock(mutex_);
    towards_next_ += wrote;
    for (; towards_next_ >= kTreePieceBytes / 2; towards_next_ -= kTreePieceBytes / 2) {
      if (whole_.empty()) continue;
      ours.push_back(whole_.front());
      whole_.pop_front();
    }
  }
  for (const size_t piece : ours) {
    sum(piece);
    file_.begin_sync(begin_of(piece), end_of(piece) - begin_of(piece));
    file_.let_go(begin_of(piece), end_of(piece) - begin_of(piece));
  }
}

void WrittenPieces::sum(size_t piece) {
  Sha256 sum;
  if (const auto mapped = file_.mapped(begin_of(piece), end_of(piece) - begin_of(piece)); !mapped.empty()) {
    sum.update(mapped);
    digests_[piece] = sum.digest();
    summed_[piece] = 1;
    return;
  }
  std::array<std::byte, size_t{1} << 16> buffer;
  for (std::uint64_t at = begin_of(piece); at < end_of(piece);) {
    const auto part = std::span(buffer).first(std::min<std::uint64_t>(buffer.size(), end_of(piece) - at));
    file_.read_at(at, part);
    sum.update(part);
    at += part.size();
  }
  digests_[piece] = sum.digest();
  summed_[piece] = 1;
}

std::string WrittenPieces::finish(ThreadPool* threads) {
  std::vector<size_t> rest;
  for (size_t piece = 0; piece < summed_.size(); ++piece) {
    if (summed_[piece] == 0) rest.push_back(piece);
  }
  const auto sum_rest = [&](std::int64_t number, int) { sum(rest[static_cast<size_t>(number)]); };
  if (threads != nullptr) {
    threads->run(static_cast<std::int64_t>(rest.size()), sum_rest);
  } else {
    for (size_t i = 0; i < rest.size(); ++i) sum(rest[i]);
  }
  return tree_sha256_hex(digests_);
}

}  // namespace buoy::trace
