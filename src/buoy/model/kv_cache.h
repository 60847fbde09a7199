#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "buoy/model/device/device_kv_pool.h"

namespace buoy::model {

// Keys (rotated) and values of one sequence's past, per layer: in host memory, or rows of a GPU's pool.
class KvCache {
 public:
  KvCache(std::int64_t layers, std::int64_t width) : width_(width), keys_(layers), values_(layers) {}
  explicit KvCache(std::shared_ptr<DeviceKvPool> pool);

  std::int64_t length() const { return length_; }

  // Host memory only.
  const float* keys(std::int64_t layer) const {
    return keys_[static_cast<size_t>(layer)].data();
  }  // [length, width]
  const float* values(std::int64_t layer) const {
    return values_[static_cast<size_t>(layer)].data();
  }  // [length, width]
  void append(std::int64_t layer, const float* keys, const float* values, std::int64_t rows);
  // In the place of rows that are there.
  void replace(std::int64_t layer, std::int64_t first, const float* keys, const float* values,
               std::int64_t rows);
  // Forgets all but the first `rows` rows.
  void shorten(std::int64_t rows);
  // Forgets rows that were appended and not advanced over.
  void drop_appended();

  // On a GPU: room for this many rows in all, so that a loop need not ask for more; old rows are kept.
  void reserve(std::int64_t rows);
  const DeviceKvPool* pool() const;     // null: in host memory
  std::int64_t first_pool_row() const;  // of the pool; only with one

  // A copy of the first `rows` rows: what a sequence that begins alike may start from.
  KvCache prefix(std::int64_t rows) const;

  // After every layer has appended its rows.
  void advance(std::int64_t rows) { length_ += rows; }

 private:
  // Rows of the pool, given back at the end.
  struct Stretch {
    std::shared_ptr<DeviceKvPool> pool;
    std::int64_t first = 0, rows = 0;

    explicit Stretch(std::shared_ptr<DeviceKvPool> owner) : pool(std::move(owner)) {}
    ~Stretch();
    Stretch(const Stretch&) = delete;
    Stretch& operator=(const Stretch&) = delete;
  };

  std::int64_t width_ = 0;
  std::int64_t length_ = 0;
  std::vector<std::vector<float>> keys_;
  std::vector<std::vector<float>> values_;
  std::unique_ptr<Stretch> stretch_;
};

}  // namespace buoy::model
