// Pairs of random identifiers, as in key-value retrieval.

#include <fmt/format.h>

#include "buoy/world/hay.h"
#include "buoy/world/world_draws.h"

namespace buoy::world {
namespace {

constexpr std::uint32_t kPairPart = 1;
constexpr const char* kPairInstruction =
    "Below is a JSON object. Say only which value stands in it for the key that is named behind it.";
constexpr const char* kPairsInstruction =
    "Below is a JSON object. Say only which values stand in it for the keys that are named behind it, in "
    "their order, with commas between.";

// 128 random bits, written as identifiers are: 8-4-4-4-12 hexadecimal digits.
std::string drawn_identifier(WorldDraws& draws) {
  constexpr std::uint32_t kPieces = 8, kPieceValues = 0x10000;
  std::string digits;
  for (std::uint32_t i = 0; i < kPieces; ++i) digits += fmt::format("{:04x}", draws.below(kPieceValues));
  for (const std::size_t at : {20U, 16U, 12U, 8U}) digits.insert(at, "-");
  return digits;
}

struct Pair {
  std::string key, value;
  std::string text() const { return fmt::format("\"{}\": \"{}\"", key, value); }
};

class PairHay final : public Hay {
 public:
  PairHay(const HaystackRequest& request, std::uint32_t number)
      : draws_(request.seed, WorldStream::kHaystack, number, kPairPart) {
    std::string values;
    for (std::uint32_t i = 0; i < request.needles; ++i) {
      const Pair pair = next_pair();
      needles.push_back({.text = pair.text(), .gold = true});
      keys_ += fmt::format("{}\"{}\"", i == 0 ? "" : ", ", pair.key);
      values += (i == 0 ? "" : ", ") + pair.value;
    }
    item.answers = {values};
    one_ = request.needles == 1;
    item.question = one_ ? fmt::format("Which value belongs to the key {}?", keys_)
                         : fmt::format("Which values belong to the keys {}?", keys_);
    instruction_ = !request.instruction.empty() ? request.instruction
                   : one_                       ? kPairInstruction
                                                : kPairsInstruction;
  }

  std::string head() const override { return instruction_ + "\n\n{"; }
  std::string lead(std::size_t number) const override { return number == 0 ? "" : ",\n "; }
  std::string tail() const override { return fmt::format("}}\n\n{}\nAnswer:", item.question); }

 private:
  Pair next_pair() {
    std::string key = drawn_identifier(draws_);
    return {std::move(key), drawn_identifier(draws_)};
  }
  std::string next_filler() override { return next_pair().text(); }

  WorldDraws draws_;
  std::string keys_, instruction_;
  bool one_ = true;
};

}  // namespace

std::vector<std::unique_ptr<Hay>> make_pair_hays(const HaystackRequest& request) {
  std::vector<std::unique_ptr<Hay>> out;
  for (std::uint32_t i = 0; i < request.per_cell; ++i) out.push_back(std::make_unique<PairHay>(request, i));
  return out;
}

}  // namespace buoy::world
