#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace buoy::shard {

// Which shard takes which sample: the dearest first, each to the shard that has least so far (the lower
// number where two have the same). A function of the costs alone, so that every process deals alike.
std::vector<int> deal(const std::vector<std::uint64_t>& costs, int shards);

// Numbers of the samples that a shard takes, ascending.
std::vector<std::size_t> part_of(const std::vector<int>& shard_of, int shard);

// What a decoded sample is expected to cost, in arithmetic of one parameter: tokens that go through the
// model.
struct SampleShape {
  std::uint64_t prompt_tokens = 0, new_tokens = 0;
  std::uint64_t forwards = 0;  // over the whole row; 0: a token at a time behind a cache
};
std::uint64_t expected_cost(const SampleShape& shape);

}  // namespace buoy::shard
