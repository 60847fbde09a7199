#include "buoy/model/kv_cache.h"

#include <algorithm>

#include "buoy/base/error.h"

namespace buoy::model {

KvCache::Stretch::~Stretch() {
  if (rows > 0) pool->give_back(first, rows);
}

KvCache::KvCache(std::shared_ptr<DeviceKvPool> pool) : stretch_(std::make_unique<Stretch>(std::move(pool))) {}

void KvCache::append(std::int64_t layer, const float* keys, const float* values, std::int64_t rows) {
  const auto layer_index = static_cast<size_t>(layer);
  keys_[layer_index].insert(keys_[layer_index].end(), keys, keys + rows * width_);
  values_[layer_index].insert(values_[layer_index].end(), values, values + rows * width_);
}

void KvCache::replace(std::int64_t layer, std::int64_t first, const float* keys, const float* values,
                      std::int64_t rows) {
  BUOY_CHECK(first >= 0 && first + rows <= length_);
  const auto layer_index = static_cast<size_t>(layer);
  std::copy_n(keys, rows * width_, keys_[layer_index].begin() + first * width_);
  std::copy_n(values, rows * width_, values_[layer_index].begin() + first * width_);
}

void KvCache::drop_appended() {
  for (auto& keys : keys_) keys.resize(static_cast<size_t>(length_ * width_));
  for (auto& values : values_) values.resize(static_cast<size_t>(length_ * width_));
}

void KvCache::shorten(std::int64_t rows) {
  BUOY_CHECK(rows >= 0 && rows <= length_);
  length_ = rows;
  drop_appended();
}

void KvCache::reserve(std::int64_t rows) {
  if (stretch_ == nullptr || rows <= stretch_->rows) return;
  auto larger = std::make_unique<Stretch>(stretch_->pool);
  const std::int64_t wanted = std::max(rows, 2 * stretch_->rows);
  larger->first = larger->pool->take(wanted);
  larger->rows = wanted;
  if (length_ > 0) larger->pool->copy_rows(stretch_->first, larger->first, length_);
  stretch_ = std::move(larger);
}

const DeviceKvPool* KvCache::pool() const {
  return stretch_ != nullptr ? stretch_->pool.get() : nullptr;
}

std::int64_t KvCache::first_pool_row() const {
  BUOY_CHECK(stretch_ != nullptr && stretch_->rows > 0);
  return stretch_->first;
}

KvCache KvCache::prefix(std::int64_t rows) const {
  BUOY_CHECK(rows >= 0 && rows <= length_);
  if (stretch_ != nullptr) {
    KvCache out(stretch_->pool);
    out.reserve(rows);
    if (rows > 0) stretch_->pool->copy_rows(stretch_->first, out.stretch_->first, rows);
    out.length_ = rows;
    return out;
  }
  KvCache out(static_cast<std::int64_t>(keys_.size()), width_);
  for (size_t layer = 0; layer < keys_.size(); ++layer) {
    out.keys_[layer].assign(keys_[layer].begin(), keys_[layer].begin() + rows * width_);
    out.values_[layer].assign(values_[layer].begin(), values_[layer].begin() + rows * width_);
  }
  out.length_ = rows;
  return out;
}

}  // namespace buoy::model
