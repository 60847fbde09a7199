#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "buoy/analysis/core/reach.h"

namespace buoy::analysis {

// What depends on nothing but the rows and keys of a forward. Layers are asked by threads of their own, and
// most runs have one reach.
template <typename Made>
class PerReach {
 public:
  PerReach(std::int64_t layers, const Reach& usual, std::function<Made(const Reach&)> make)
      : make_(std::move(make)),
        of_layer_(static_cast<std::size_t>(layers), {usual, std::make_shared<const Made>(make_(usual))}) {}

  const Made& of(std::int64_t layer, const Reach& reach) {
    Last& last = of_layer_[static_cast<std::size_t>(layer)];
    if (!(last.reach == reach)) last = {reach, std::make_shared<const Made>(make_(reach))};
    return *last.made;
  }

 private:
  struct Last {
    Reach reach;
    std::shared_ptr<const Made> made;
  };
  std::function<Made(const Reach&)> make_;
  std::vector<Last> of_layer_;
};

}  // namespace buoy::analysis
