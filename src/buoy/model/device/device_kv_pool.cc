#include "buoy/model/device/device_kv_pool.h"

#include <algorithm>
#include <iterator>

namespace buoy::model {
namespace {

constexpr std::int64_t kFirstRows = 4096;

}  // namespace

std::int64_t DeviceKvPool::take(std::int64_t rows) {
  for (auto stretch = free_.begin(); stretch != free_.end(); ++stretch) {
    const auto [first, length] = *stretch;
    if (length < rows) continue;
    free_.erase(stretch);
    if (length > rows) free_[first + rows] = length - rows;
    return first;
  }
  grow(std::max({kFirstRows, 2 * rows_, rows_ + rows}));
  return take(rows);
}

void DeviceKvPool::give_back(std::int64_t first, std::int64_t rows) {
  auto here = free_.emplace(first, rows).first;
  if (const auto next = std::next(here); next != free_.end() && here->first + here->second == next->first) {
    here->second += next->second;
    free_.erase(next);
  }
  if (here == free_.begin()) return;
  if (const auto before = std::prev(here); before->first + before->second == here->first) {
    before->second += here->second;
    free_.erase(here);
  }
}

void DeviceKvPool::copy_rows(std::int64_t from, std::int64_t to, std::int64_t rows) {
  const Stream stream;
  for (std::int64_t number = 0; number < 2 * layers_; ++number) {
    copy_on_device(stream, part(number) + to * width_, part(number) + from * width_,
                   static_cast<std::size_t>(rows * width_) * sizeof(std::uint16_t));
  }
  stream.synchronize();
}

// Rows nobody wrote yet are zero: kernels may read past a sequence's end and must find finite numbers there.
void DeviceKvPool::grow(std::int64_t rows) {
  const auto bytes_of = [&](std::int64_t count) {
    return static_cast<std::size_t>(count * width_) * sizeof(std::uint16_t);
  };
  DeviceMemory larger(static_cast<std::size_t>(2 * layers_) * bytes_of(rows));
  const Stream stream;
  fill_bytes(stream, larger.data(), 0, larger.bytes());
  for (std::int64_t number = 0; number < 2 * layers_ && rows_ > 0; ++number)
    copy_on_device(stream, larger.as<std::uint16_t>() + number * rows * width_, part(number),
                   bytes_of(rows_));
  stream.synchronize();
  const std::int64_t old_rows = rows_;
  memory_ = std::move(larger);
  rows_ = rows;
  give_back(old_rows, rows - old_rows);
}

}  // namespace buoy::model
