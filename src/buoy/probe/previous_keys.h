#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace buoy::probe {

// Keys and values of the forward before, for who compares steps; kept by whoever asks, where the model runs.
// Each layer is filled by one thread at a time.
struct PreviousKeys {
  explicit PreviousKeys(std::int64_t layers) : of_layer(static_cast<std::size_t>(layers)) {}

  struct Layer {
    std::vector<float> keys, values;  // [rows, kv_heads, head_dim]
    std::shared_ptr<void> on_device;  // the same on a card, as the model keeps it there
    std::int64_t rows = 0;
    std::int64_t step = -1;  // of which they are; -1: none

    // How many of the rows of a forward were there before it, if it comes behind them; from now on they are
    // of that forward.
    std::int64_t advance(std::int64_t to_step, std::int64_t to_rows) {
      const std::int64_t known = step >= 0 && step < to_step ? (rows < to_rows ? rows : to_rows) : 0;
      step = to_step;
      rows = to_rows;
      return known;
    }
  };
  std::vector<Layer> of_layer;
};

}  // namespace buoy::probe
