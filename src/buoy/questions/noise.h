#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "buoy/questions/item.h"

namespace buoy::questions {

// What is put beside the gold passages of an item, taken from the data set itself.
enum class Noise {
  kRandom,         // passages of other items
  kRetrieved,      // the item's own passages that are neither gold nor hold an answer: found, but wrong
  kContradiction,  // the gold passage again, with the answer of another item, alike in shape where there is
                   // one, in the place of its own
  kShuffled,       // passages of other items with their words shuffled
  kRepeated,       // one passage of another item, again and again
};

std::string name_of(Noise noise);
Noise noise_from_name(const std::string& name);  // UsageError
std::vector<std::string> noise_names();

// Passages and answers to make noise of: those of the first items of a data set.
class NoisePool {
 public:
  static constexpr std::size_t kMostItems = 2000;

  explicit NoisePool(std::span<const Item> items);

 private:
  friend class NoiseMaker;
  struct Source {
    std::string id, answer;
    std::vector<Passage> passages;
  };
  std::vector<Source> sources_;
};

struct NoiseOptions {
  Noise kind = Noise::kRandom;
  std::size_t count = 0;  // noise passages per item
  std::uint64_t seed = 0;
};

// The item with its gold passages and `count` noise passages; the gold ones stand together at a
// place drawn for every item. Item `number` of a set always gets the same noise, and a smaller count gets the
// first of a larger one's. InputError without a gold
// passage, or when the data cannot make that much noise.
Item with_noise(const Item& item, std::size_t number, const NoisePool& pool, const NoiseOptions& options);

}  // namespace buoy::questions
