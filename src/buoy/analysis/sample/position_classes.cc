#include "buoy/analysis/sample/position_classes.h"

#include <algorithm>

#include "buoy/base/error.h"

namespace buoy::analysis {
namespace {

constexpr std::array<std::string_view, 5> kKinds = {"structural", "content", "mask", "padding", "unknown"};
constexpr std::array<std::string_view, 4> kStates = {"prompt", "answer_revealed", "answer_masked", "padding"};
// Upper ends of the classes of age, in steps.
constexpr std::array kAgeEnds = {1, 3, 7, 15};
constexpr std::array<std::string_view, 5> kAges = {"1", "2-3", "4-7", "8-15", "16 or more"};
constexpr std::array<std::string_view, 10> kTenths = {"0.0-0.1", "0.1-0.2", "0.2-0.3", "0.3-0.4", "0.4-0.5",
                                                      "0.5-0.6", "0.6-0.7", "0.7-0.8", "0.8-0.9", "0.9-1.0"};
constexpr std::int64_t kKindsFrom = kTokenTypes.size(), kStatesFrom = kKindsFrom + kKinds.size(),
                       kAgesFrom = kStatesFrom + kStates.size(), kTenthsFrom = kAgesFrom + kAges.size();

std::vector<PositionClass> make_all() {
  std::vector<PositionClass> all;
  all.reserve(kTenthsFrom + kTenths.size());
  for (const auto type : kTokenTypes) all.push_back({"type", name_of(type)});
  for (const auto name : kKinds) all.push_back({"kind", name});
  for (const auto name : kStates) all.push_back({"state", name});
  for (const auto name : kAges) all.push_back({"age", name});
  for (const auto name : kTenths) all.push_back({"position", name});
  return all;
}

std::int64_t kind_of(TokenType type) {
  if (is_structural(type)) return 0;
  if (is_content(type)) return 1;
  return type == TokenType::kMask ? 2 : type == TokenType::kPadding ? 3 : 4;
}

std::int8_t age_class(std::int32_t age) {
  const auto end = std::lower_bound(kAgeEnds.begin(), kAgeEnds.end(), age);
  return static_cast<std::int8_t>(kAgesFrom + (end - kAgeEnds.begin()));
}

}  // namespace

const std::vector<PositionClass>& PositionClasses::all() {
  static const auto all = make_all();
  return all;
}

std::int64_t PositionClasses::find(std::string_view dimension, std::string_view name) {
  const auto& classes = all();
  const auto at = std::find_if(classes.begin(), classes.end(), [&](const PositionClass& c) {
    return c.dimension == dimension && c.name == name;
  });
  BUOY_CHECK(at != classes.end());
  return at - classes.begin();
}

PositionClasses::PositionClasses(const SampleFacts& sample, const PositionStates& now)
    : classes_(now.types.size(), {-1, -1, -1, -1, -1}), base_(static_cast<size_t>(count()), 0.0) {
  const std::int64_t keys = std::min(sample.tokens, now.keys);
  for (std::int64_t j = 0; j < keys; ++j) {
    const auto at = static_cast<size_t>(j);
    const bool masked = now.masked[at] != 0;
    const bool padding = j >= std::max(now.answer_end, sample.prompt_length);
    const std::int64_t state = j < sample.prompt_length ? 0 : padding ? 3 : masked ? 2 : 1;
    const bool aged = sample.masked_diffusion && !masked && state != 0 && now.revealed_at[at] >= 0;
    classes_[at] = {static_cast<std::int8_t>(now.types[at]),
                    static_cast<std::int8_t>(kKindsFrom + kind_of(now.types[at])),
                    static_cast<std::int8_t>(kStatesFrom + state),
                    aged ? age_class(now.step - now.revealed_at[at]) : std::int8_t{-1},
                    static_cast<std::int8_t>(kTenthsFrom + j * 10 / sample.tokens)};
    for (const auto c : classes_[at]) {
      if (c >= 0) base_[static_cast<size_t>(c)] += 1.0 / static_cast<double>(keys);
    }
  }
}

}  // namespace buoy::analysis
