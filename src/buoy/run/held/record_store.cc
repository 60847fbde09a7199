#include "buoy/run/held/record_store.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <span>
#include <utility>

#include "buoy/base/error.h"
#include "buoy/probe/record_numbers.h"

namespace buoy::run {
namespace {

std::atomic<std::uint64_t> in_memory = 0, most = std::uint64_t{1} << 28;

// False where they would be too many.
bool take_room(std::uint64_t bytes) {
  if (in_memory.fetch_add(bytes) + bytes <= most) return true;
  in_memory -= bytes;
  return false;
}

void add(std::vector<std::byte>& to, const void* from, size_t bytes) {
  const auto* first = static_cast<const std::byte*>(from);
  to.insert(to.end(), first, first + bytes);
}

void get(const std::byte*& at, void* to, size_t bytes) {
  if (bytes > 0) std::memcpy(to, at, bytes);
  at += bytes;
}

// Most of a record may be groups of queries that no row was in. Zeros are counted, what is between them is
// kept.
constexpr size_t kPiece = 256;
struct Stretch {
  std::uint64_t zeros, kept;
};

// Where pieces end that are zeros, or are not.
size_t end_of(std::span<const std::byte> bytes, size_t at, bool zeros) {
  static constexpr std::array<std::byte, kPiece> kZeros{};
  while (at < bytes.size()) {
    const size_t piece = std::min(kPiece, bytes.size() - at);
    if ((std::memcmp(bytes.data() + at, kZeros.data(), piece) == 0) != zeros) break;
    at += piece;
  }
  return at;
}

void add_without_zeros(std::vector<std::byte>& to, std::span<const std::byte> bytes) {
  for (size_t at = 0; at < bytes.size();) {
    const size_t begin = end_of(bytes, at, true), end = end_of(bytes, begin, false);
    const Stretch stretch{begin - at, end - begin};
    add(to, &stretch, sizeof stretch);
    add(to, bytes.data() + begin, stretch.kept);
    at = end;
  }
}

void get_with_zeros(const std::byte*& at, std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    Stretch stretch{};
    get(at, &stretch, sizeof stretch);
    std::fill_n(bytes.data(), stretch.zeros, std::byte{0});
    get(at, bytes.data() + stretch.zeros, stretch.kept);
    bytes = bytes.subspan(stretch.zeros + stretch.kept);
  }
}

}  // namespace

std::uint64_t RecordStore::bytes_in_memory() {
  return in_memory;
}

std::uint64_t RecordStore::most_in_memory() {
  return most;
}

std::uint64_t RecordStore::bound_memory(std::uint64_t bytes) {
  return most.exchange(bytes);
}

RecordStore::~RecordStore() {
  for (const auto& one : held_) in_memory -= one.bytes;
}

void RecordStore::put(probe::LayerRecord&& record) {
  record.residual.on_device = {};  // there only while the record is handed over
  std::uint64_t bytes = sizeof(Held) + probe::bytes_of(record);
  probe::OwnStates states;
  states.for_each(record.states, [&](const float*&, auto&, std::int64_t count) {
    bytes += static_cast<std::uint64_t>(count) * sizeof(float);
  });
  if (!take_room(bytes)) {
    write(record);
    held_.emplace_back();
    return;
  }
  Held& held = held_.emplace_back();
  held.bytes = bytes;
  held.record = std::move(record);
  held.states.copy(held.record.states);
}

void RecordStore::take(probe::LayerRecord& record) {
  BUOY_CHECK(!held_.empty());
  Held& held = held_.front();
  if (held.bytes == 0) {
    read(record);
  } else {
    in_memory -= held.bytes;
    record = std::move(held.record);
    shown_ = std::move(held.states);
    shown_.show(record.states);
  }
  held_.pop_front();
}

// The size of the record, its states, then every list behind its length.
void RecordStore::write(probe::LayerRecord& record) {
  buffer_.clear();
  const auto add_size = [&](std::uint64_t size) { add(buffer_, &size, sizeof size); };
  add_size(0);
  add(buffer_, &record.states, sizeof record.states);
  probe::OwnStates none;
  none.for_each(record.states, [&](const float*& from, auto&, std::int64_t count) {
    add(buffer_, from, static_cast<size_t>(count) * sizeof(float));
  });
  probe::for_each_list(record, [&](const auto& list) {
    add_size(list.size());
    add_without_zeros(buffer_, std::as_bytes(std::span(list)));
  });
  const std::uint64_t size = buffer_.size();
  std::memcpy(buffer_.data(), &size, sizeof size);
  if (!file_) file_.emplace(folder_);
  file_->append(buffer_);
}

void RecordStore::read(probe::LayerRecord& record) {
  std::uint64_t size = 0;
  file_->read_at(next_, std::as_writable_bytes(std::span(&size, 1)));
  buffer_.resize(size);
  file_->read_at(next_, buffer_);
  next_ += size;
  const std::byte* at = buffer_.data() + sizeof size;
  get(at, &record.states, sizeof record.states);
  shown_.for_each(record.states, [&](const float*&, std::vector<float>& own, std::int64_t count) {
    own.resize(static_cast<size_t>(count));
    get(at, own.data(), own.size() * sizeof(float));
  });
  shown_.show(record.states);
  probe::for_each_list(record, [&](auto& list) {
    std::uint64_t count = 0;
    get(at, &count, sizeof count);
    list.resize(count);
    get_with_zeros(at, std::as_writable_bytes(std::span(list)));
  });
  BUOY_CHECK(at == buffer_.data() + buffer_.size());
}

}  // namespace buoy::run
