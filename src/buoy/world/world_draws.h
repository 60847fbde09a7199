#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace buoy::world {

// What a draw of the world of facts is for: the stream word of its Philox address (docs/randomness.md).
enum class WorldStream : std::uint32_t {
  kSpelling = 16,  // the made-up words; never depends on a world's seed
  kKnown = 17,     // one known person
  kUnknown = 18,   // one unknown person
  kItem = 19,      // one item of a question set
  kItem2 = 20,     // the same, version 2
  kHaystack = 21,  // the filler of one haystack, or its pairs
};

// The draws that belong to one thing of a world, in order. Two things never share a draw.
class WorldDraws {
 public:
  WorldDraws(std::uint64_t seed, WorldStream stream, std::uint32_t thing, std::uint32_t part = 0);

  std::uint32_t below(std::uint32_t count);  // uniform over 0 .. count - 1
  double unit();                             // [0, 1)

  template <typename T>
  void shuffle(std::vector<T>& values) {
    for (std::uint32_t i = static_cast<std::uint32_t>(values.size()); i > 1; --i) {
      std::swap(values[i - 1], values[below(i)]);
    }
  }

 private:
  std::uint64_t seed_;
  std::uint32_t stream_, thing_, part_;
  std::uint32_t next_ = 0;
};

}  // namespace buoy::world
