#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "buoy/questions/item.h"

namespace buoy::world {

// Needles hidden in filler, at every length and every depth (docs/data-formats.md, haystacks).
struct HaystackRequest {
  std::string kind = "needle";  // or "key-values"
  std::vector<std::uint32_t>
      lengths;  // of the whole prompt, in tokens of the model that counts them, at most
  std::vector<std::uint32_t> depths = {0, 25, 50, 75, 100};  // percent of the filler before the first needle
  std::uint32_t per_cell = 10;                               // questions of every length and depth
  std::uint32_t needles = 1;
  std::string instruction = {};  // a line before all else; "": of key-values the usual one, else none
  std::uint64_t seed = 1;

  // Needles in text alone.
  std::uint32_t version = 1;            // of the world that is asked about
  std::optional<std::string> filler{};  // text to hide them in; nothing: passages of the world
};

struct Haystack {
  questions::Item
      item;  // with a ready prompt; its passages are the needles, gold, and what lies between them
  std::size_t tokens = 0;  // of the prompt, as counted
};

// How many tokens a prompt takes, with all that the model's chat template puts around it.
using CountPromptTokens = std::function<std::size_t(const std::string& prompt)>;

std::vector<std::string> haystack_kinds();

// UsageError for what contradicts itself or cannot be made.
void check_haystack(const HaystackRequest& request);

// Question by question, all its lengths and depths after each other. Question i depends on the request and i
// alone; at every length and depth it asks the same and hides the same needles, and a longer haystack begins
// with the filler of a shorter one. Labels: kind, length, depth, needles. UsageError for a length that does
// not hold the needles and the question; InputError for a filler without a sentence that can be used.
std::vector<Haystack> make_haystacks(const HaystackRequest& request, const CountPromptTokens& count);

// A line of JSON without its end: the item in Buoy's layout, and `tokens`.
std::string haystack_line(const Haystack& haystack);

}  // namespace buoy::world
