#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "buoy/questions/item.h"

namespace buoy::questions {

// Places of the passages marked gold, from 1.
std::vector<std::size_t> gold_positions(const Item& item);

// The first `count` passages; all when there are fewer.
void keep_first(Item& item, std::size_t count);

// The first gold passage and the first `count` - 1 of the others, in the order they have: fewer distractors
// without losing the evidence. InputError without a gold passage or with fewer than `count` passages.
void keep_with_gold(Item& item, std::size_t count);

// Moves the first gold passage to place `position`, from 1; the others keep their order. InputError without a
// gold passage and for a place past the last passage.
void place_gold(Item& item, std::size_t position);

struct FitResult {
  std::size_t dropped = 0;  // passages left out whole
  bool cut = false;         // whether the last one left was shortened
  bool lost_gold = false;   // whether a gold passage was dropped
  std::size_t tokens = 0;   // of the prompt now
  std::size_t affected() const { return dropped + (cut ? 1 : 0); }
};

// Makes the prompt fit into `budget` tokens by leaving out passages from the last on and shortening the one
// after which it then fits, at the end of a word. `count_tokens` tells the length of the prompt of an item;
// it is called about 2 log2(passages and words) times. At least a word of the first passage stays: InputError
// when not even that fits, or the item has no passages to cut.
using CountTokens = std::function<std::size_t(const Item&)>;
FitResult fit_passages(Item& item, std::size_t budget, const CountTokens& count_tokens);

}  // namespace buoy::questions
