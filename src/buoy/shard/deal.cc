#include "buoy/shard/deal.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

namespace buoy::shard {

std::vector<int> deal(const std::vector<std::uint64_t>& costs, int shards) {
  std::vector<std::size_t> order(costs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return costs[a] > costs[b]; });
  using Load = std::pair<std::uint64_t, int>;  // so far, of this shard
  std::priority_queue<Load, std::vector<Load>, std::greater<>> loads;
  for (int shard = 0; shard < shards; ++shard) loads.emplace(0, shard);
  std::vector<int> out(costs.size(), 0);
  for (const auto number : order) {
    auto [load, shard] = loads.top();
    loads.pop();
    out[number] = shard;
    loads.emplace(load + std::max<std::uint64_t>(costs[number], 1), shard);
  }
  return out;
}

std::vector<std::size_t> part_of(const std::vector<int>& shard_of, int shard) {
  std::vector<std::size_t> out;
  for (std::size_t number = 0; number < shard_of.size(); ++number) {
    if (shard_of[number] == shard) out.push_back(number);
  }
  return out;
}

std::uint64_t expected_cost(const SampleShape& shape) {
  constexpr std::uint64_t kAttention = 8192;  // at so many tokens attention costs as much as the weights
  const std::uint64_t row = shape.prompt_tokens + shape.new_tokens;
  const std::uint64_t through = shape.forwards > 0 ? row * shape.forwards : row;
  return through + through * row / kAttention;
}

}  // namespace buoy::shard
