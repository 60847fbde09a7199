#include "buoy/trace/sample_rules.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>
#include <sstream>

#include "buoy/base/file/json_file.h"
#include "buoy/base/utf8.h"
#include "buoy/trace/array.h"
#include "buoy/trace/schema.h"

namespace buoy::trace {
namespace {

constexpr std::int64_t kMostTopKeys = 1 << 20;
constexpr float kRounding = 1.0f / 64;  // of sums of weights that were stored as F16

std::string_view describe(Element element) {
  return element == Element::kFloat ? "F32 or F16" : element == Element::kInteger ? "I32" : "U8";
}

bool holds(Element element, std::string_view dtype) {
  if (element == Element::kFloat) return dtype == "F32" || dtype == "F16";
  return dtype == describe(element);
}

std::vector<std::string> split(std::string_view words) {
  std::istringstream stream{std::string(words)};
  std::vector<std::string> parts;
  for (std::string part; stream >> part;) parts.push_back(part);
  return parts;
}

// The two numbers of "dense_step3_layer0"; nothing for other names.
struct Place {
  std::int64_t step, layer;
};
std::optional<Place> place_in_name(std::string_view name) {
  const size_t step = name.find("_step"), layer = name.find("_layer");
  if (step == std::string_view::npos || layer == std::string_view::npos || layer < step) return std::nullopt;
  Place place{};
  const auto number = [](std::string_view digits, std::int64_t& value) {
    const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    // The one spelling of a number, so that no array is there twice.
    return failure == std::errc{} && end == digits.data() + digits.size() && std::to_string(value) == digits;
  };
  const bool both = number(name.substr(step + 5, layer - step - 5), place.step) &&
                    number(name.substr(layer + 6), place.layer);
  return both ? place : Place{-1, -1};
}

class Checker {
 public:
  Checker(const SampleView& sample, const SampleRules& rules) : sample_(sample), rules_(rules) {
    for (const auto& array : sample.arrays) arrays_.emplace(array.name, &array);
  }

  void run() {
    for (const auto& array : sample_.arrays) check_shape(array);
    check_sizes();
    check_texts();
    check_integers();
    check_places();
    for (const auto name : {kReceived, kMass}) {
      if (arrays_.contains(name) && !arrays_.contains(kGroupSizes))
        refuse(kGroupSizes, fmt::format("the array that {} is a sum over", name), "none");
    }
  }

 private:
  [[noreturn]] void refuse(std::string_view field, const std::string& expected,
                           const std::string& found) const {
    rules_.fail({fmt::format("{}: {}", rules_.where, field), expected, found});
    std::abort();  // fail() throws
  }

  void check_shape(const ArrayView& array) {
    if (array.name.starts_with(kPrivatePrefix)) return;
    const ArraySchema* schema = find_array(array.name);
    if (schema == nullptr) {
      if (!rules_.refuse_unknown) return;
      refuse(array.name, fmt::format("a name of the schema or one beginning with {}", kPrivatePrefix),
             "an unknown name");
    }
    if (!holds(schema->element, array.dtype))
      refuse(array.name, std::string(describe(schema->element)), std::string(array.dtype));
    if (rules_.storage != nullptr && *rules_.storage == Storage::kF32 && array.dtype == "F16")
      refuse(array.name, "F32 as the manifest's storage says", "F16");
    const auto letters = split(schema->shape);
    if (letters.size() != array.shape.size())
      refuse(array.name, fmt::format("shape [{}]", schema->shape), "shape " + describe_shape(array.shape));
    for (size_t i = 0; i < letters.size(); ++i) {
      if (letters[i] == "N") continue;  // a length of its own
      const auto& known = sizes_.try_emplace(letters[i][0], Size{array.shape[i], array.name}).first->second;
      if (known.size != array.shape[i]) {
        refuse(array.name,
               fmt::format("shape [{}] with {} = {} as in {}", schema->shape, letters[i], known.size,
                           known.array),
               "shape " + describe_shape(array.shape));
      }
    }
  }

  // The number a letter of the schema's shapes stands for; nothing when no array has it.
  std::optional<std::int64_t> size(char letter) const {
    const auto found = sizes_.find(letter);
    return found == sizes_.end() ? std::nullopt : std::optional(found->second.size);
  }

  void require_size(char letter, std::int64_t least, std::int64_t most) const {
    const auto found = sizes_.find(letter);
    if (found == sizes_.end() || (found->second.size >= least && found->second.size <= most)) return;
    refuse(found->second.array,
           letter == '2'   ? "two numbers, the last dimension"
           : letter == '3' ? "three numbers, the last dimension"
           : least == most ? fmt::format("{} = {} as in the manifest", letter, least)
                           : fmt::format("{} from {} to {}", letter, least, most),
           fmt::format("{} = {}", letter, found->second.size));
  }

  void check_sizes() const {
    constexpr std::int64_t kAny = INT32_MAX;
    require_size('T', 1, kAny);
    require_size('S', 1, kMostSteps);
    require_size('G', 1, kNoRegion);
    require_size('C', 0, kNoRegion);
    require_size('R', 0, kAny);
    require_size('K', 0, kMostTopKeys);
    require_size('A', 0, size('T').value_or(kAny));
    require_size('P', 0, kMostTopKeys);
    require_size('X', 1, size('E').value_or(kAny));
    require_size('E', 1, kMostExperts);
    require_size('2', 2, 2);
    require_size('3', 3, 3);
    const ModelCard* model = rules_.model;
    require_size('L', 1, model != nullptr ? model->layers : kAny);
    require_size('H', model != nullptr ? model->heads : 1, model != nullptr ? model->heads : kAny);
    require_size('V', model != nullptr ? model->kv_heads : 1, model != nullptr ? model->kv_heads : kAny);
    require_size('M', model != nullptr ? model->hidden : 1, model != nullptr ? model->hidden : kAny);
    require_size('D', model != nullptr ? model->head_dim : 1, model != nullptr ? model->head_dim : kAny);
  }

  bool has_text(std::string_view key) const { return sample_.texts.contains(std::string(key)); }
  const std::string& text(std::string_view key) const { return sample_.texts.at(std::string(key)); }
  static std::string field(std::string_view key) { return fmt::format("__metadata__: {}", key); }
  static std::string quoted(const std::string& text) { return describe_json(replace_invalid_utf8(text)); }

  std::optional<std::int64_t> integer_text(std::string_view key, std::int64_t least,
                                           std::int64_t most) const {
    if (!has_text(key)) return std::nullopt;
    const std::string& digits = text(key);
    std::int64_t value = 0;
    const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    const bool whole = failure == std::errc{} && end == digits.data() + digits.size();
    if (!whole || value < least || value > most)
      refuse(field(key), fmt::format("an integer from {} to {}", least, most), quoted(digits));
    return value;
  }

  std::vector<std::string> list_text(std::string_view key) const {
    std::vector<std::string> texts;
    if (!has_text(key)) return texts;
    const Json json = parse_json(text(key), fmt::format("{}: {}", rules_.where, field(key)));
    if (!json.is_array()) refuse(field(key), "a list of texts", describe_json(json));
    for (const Json& item : json) {
      if (!item.is_string()) refuse(field(key), "a list of texts", describe_json(item) + " in it");
      texts.push_back(item.get<std::string>());
    }
    return texts;
  }

  void require_length(std::string_view key, size_t length, char letter, std::string_view of) const {
    const auto expected = size(letter);
    if (!has_text(key) || !expected || static_cast<std::int64_t>(length) == *expected) return;
    refuse(field(key), fmt::format("{} texts, one for each {}", *expected, of), fmt::format("{}", length));
  }

  void check_texts() {
    const std::int64_t tokens = size('T').value_or(INT32_MAX);
    prompt_length_ = integer_text(kPromptLength, 0, tokens).value_or(0);
    if (const auto generated = size('A');
        generated && has_text(kPromptLength) && *generated != tokens - prompt_length_)
      refuse(sizes_.at('A').array,
             fmt::format("A = {}, the tokens behind the prompt", tokens - prompt_length_),
             fmt::format("A = {}", *generated));
    integer_text(kMaskToken, 0, vocabulary() - 1);
    integer_text(kPredictionOffset, 0, 1);
    integer_text(kRight, 0, 1);
    final_step_ = integer_text(kFinalStep, 0, kMostSteps);
    if (has_text(kAttention) && text(kAttention) != kCausalAttention &&
        text(kAttention) != kBidirectionalAttention && text(kAttention) != kPrefixAttention &&
        text(kAttention) != kBlocksAttention)
      refuse(field(kAttention), "causal, bidirectional, prefix or blocks", quoted(text(kAttention)));
    check_blocks(tokens);
    require_length(kTokenTexts, list_text(kTokenTexts).size(), 'T', "token");
    require_length(kGroupNames, list_text(kGroupNames).size(), 'G', "query group");
    list_text(kAnswers);
    const auto regions = list_text(kRegionNames);
    require_length(kRegionNames, regions.size(), 'C', "region");
    if (regions.size() > kNoRegion)
      refuse(field(kRegionNames), fmt::format("at most {} names", kNoRegion),
             fmt::format("{}", regions.size()));
    regions_ = static_cast<std::int64_t>(regions.size());
    for (const auto& gold : list_text(kGoldRegions)) {
      if (std::find(regions.begin(), regions.end(), gold) == regions.end())
        refuse(field(kGoldRegions), "names among region_names", quoted(gold));
    }
  }

  // What a grid needs, and nobody else has.
  void check_blocks(std::int64_t tokens) const {
    const bool blocks = has_text(kAttention) && text(kAttention) == kBlocksAttention;
    for (const auto key : {kBlockLength, kGridOrigin}) {
      if (has_text(key) != blocks)
        refuse(field(key), blocks ? "an integer beside attention blocks" : "none without attention blocks",
               blocks ? "none" : quoted(text(key)));
    }
    integer_text(kBlockLength, 1, INT32_MAX);
    integer_text(kGridOrigin, 0, tokens);
    if (has_text(kDenoisedLength) != has_text(kDenoisedOrigin) || (has_text(kDenoisedLength) && !blocks))
      refuse(field(has_text(kDenoisedLength) ? kDenoisedLength : kDenoisedOrigin),
             fmt::format("{} and {} together, beside attention blocks", kDenoisedLength, kDenoisedOrigin),
             "it without");
    integer_text(kDenoisedLength, 1, INT32_MAX);
    integer_text(kDenoisedOrigin, 0, tokens);
    for (const auto& id : list_text(kEndTokens)) {
      std::int64_t value = -1;
      const auto [end, failure] = std::from_chars(id.data(), id.data() + id.size(), value);
      if (failure != std::errc() || end != id.data() + id.size() || value < 0 || value >= vocabulary())
        refuse(field(kEndTokens), fmt::format("token ids below {}", vocabulary()), quoted(id));
    }
    if (blocks && arrays_.contains(kSteps)) {
      for (const auto name : {kStepKinds, kRowsRun}) {
        if (!arrays_.contains(name)) refuse(name, "the array, beside attention blocks", "none");
      }
    }
  }

  std::int64_t vocabulary() const { return rules_.model != nullptr ? rules_.model->vocabulary : INT32_MAX; }

  // Calls take(index, value) for every element of an integer array.
  template <typename Take>
  void for_each(std::string_view name, const Take& take) const {
    const auto found = arrays_.find(name);
    if (found == arrays_.end()) return;
    const auto& [ignored, dtype, shape, bytes] = *found->second;
    if (dtype == "U8") {
      for (size_t i = 0; i < bytes.size(); ++i) take(i, std::to_integer<std::int64_t>(bytes[i]));
      return;
    }
    for (size_t i = 0; i < bytes.size() / 4; ++i) {
      std::int32_t value;  // a file from elsewhere may not be aligned
      std::memcpy(&value, bytes.data() + 4 * i, 4);
      take(i, std::int64_t{value});
    }
  }

  void require_values(std::string_view name, std::int64_t least, std::int64_t most) const {
    for_each(name, [&](size_t i, std::int64_t value) {
      if (value < least || value > most)
        refuse(name, fmt::format("integers from {} to {}", least, most), fmt::format("{} at {}", value, i));
    });
  }

  std::vector<std::int64_t> require_ascending(std::string_view name, std::int64_t most) const {
    require_values(name, 0, most);
    std::vector<std::int64_t> values;
    for_each(name, [&](size_t i, std::int64_t value) {
      if (!values.empty() && value <= values.back())
        refuse(name, "ascending integers, each once",
               fmt::format("{} behind {} at {}", value, values.back(), i));
      values.push_back(value);
    });
    return values;
  }

  void check_integers() {
    const std::int64_t tokens = size('T').value_or(INT32_MAX);
    steps_ = require_ascending(kSteps, kMostSteps - 1);
    layers_ = require_ascending(kLayers, (rules_.model != nullptr ? rules_.model->layers : INT32_MAX) - 1);
    require_ascending(kRowPositions, tokens - 1);
    require_values(kTokens, 0, vocabulary() - 1);
    require_values(kTokensByStep, 0, vocabulary() - 1);
    require_values(kTopKeys, -1, tokens - 1);
    require_values(kMeanTopKeys, -1, tokens - 1);
    require_values(kPredictedTokens, -1, vocabulary() - 1);
    require_values(kRoutedExperts, -1, size('E').value_or(kMostExperts) - 1);
    require_values(kExpertLoad, 0, tokens);
    require_values(kLensTokens, 0, vocabulary() - 1);
    require_values(kResidualPeakAt, 0, (rules_.model != nullptr ? rules_.model->hidden : INT32_MAX) - 1);
    require_values(kEvidence, 0, 1);
    require_values(kSpecial, 0, 1);
    require_values(kTemplateText, 0, 1);
    require_values(kEnds, 0, 1);
    require_values(kGroupSizes, 0, tokens);
    if (final_step_ && !steps_.empty() && *final_step_ < steps_.back())
      refuse(field(kFinalStep), fmt::format("a step of at least {}, the last one observed", steps_.back()),
             std::to_string(*final_step_));
    require_values(kRevealedAt, -1, final_step_.value_or(kMostSteps) - 1);
    for_each(kRevealedAt, [&](size_t i, std::int64_t step) {
      if (static_cast<std::int64_t>(i) < prompt_length_ && step >= 0)
        refuse(kRevealedAt, "-1 for every token of the prompt", fmt::format("{} at {}", step, i));
    });
    for_each(kRegionOfToken, [&](size_t i, std::int64_t region) {
      if (region != kNoRegion && region >= regions_)
        refuse(kRegionOfToken, fmt::format("numbers below {}, the region_names, or {}", regions_, kNoRegion),
               fmt::format("{} at {}", region, i));
    });
    require_values(kStepKinds, 0, static_cast<std::int64_t>(StepKind::kFinalRow));
    require_values(kRowsRun, 0, tokens);
    check_rows_run();
    for_each(kReveals, [&](size_t i, std::int64_t value) {
      const std::array most = {final_step_.value_or(kMostSteps) - 1, tokens - 1, vocabulary() - 1};
      if (value < (i % 3 == 1 ? prompt_length_ : 0) || value > most[i % 3])
        refuse(kReveals, "steps, generated positions and tokens that there are",
               fmt::format("{} at {}", value, i));
    });
    check_group_sizes(tokens);
  }

  // Every forward of blocks runs some rows.
  void check_rows_run() const {
    if (!has_text(kAttention) || text(kAttention) != kBlocksAttention) return;
    std::int64_t first = 0;
    for_each(kRowsRun, [&](size_t i, std::int64_t row) {
      if (i % 2 == 0) first = row;
      if (i % 2 == 1 && row <= first)
        refuse(kRowsRun, fmt::format("an end above the first row, {}", first),
               fmt::format("{} at {}", row, i));
    });
  }

  void check_group_sizes(std::int64_t tokens) const {
    const std::int64_t groups = size('G').value_or(1);
    std::int64_t sum = 0;
    for_each(kGroupSizes, [&](size_t i, std::int64_t queries) {
      sum = static_cast<std::int64_t>(i) % groups == 0 ? queries : sum + queries;
      if (sum > tokens)
        refuse(kGroupSizes, fmt::format("at most {} queries in the groups of a step", tokens),
               fmt::format("{} at {}", sum, i));
    });
  }

  void check_places() const {
    for (const auto& array : sample_.arrays) {
      if (array.name.starts_with(kPrivatePrefix) || find_array(array.name) == nullptr) continue;
      const auto place = place_in_name(array.name);
      if (!place) continue;
      const auto among = [](const std::vector<std::int64_t>& all, std::int64_t number) {
        return all.empty() || std::binary_search(all.begin(), all.end(), number);
      };
      if (place->step < 0 || !among(steps_, place->step) || !among(layers_, place->layer))
        refuse(array.name, "the numbers of an observed step and layer", "others in its name");
    }
  }

  struct Size {
    std::int64_t size;
    std::string_view array;  // that has it
  };

  const SampleView& sample_;
  const SampleRules& rules_;
  std::map<std::string_view, const ArrayView*> arrays_;
  std::map<char, Size> sizes_;
  std::int64_t prompt_length_ = 0, regions_ = 0;
  std::optional<std::int64_t> final_step_;
  std::vector<std::int64_t> steps_, layers_;
};

}  // namespace

void check_sample(const SampleView& sample, const SampleRules& rules) {
  Checker(sample, rules).run();
}

std::optional<FloatRange> float_range(std::string_view array) {
  constexpr float kLargest = std::numeric_limits<float>::max();
  const ArraySchema* schema = array.starts_with(kPrivatePrefix) ? nullptr : find_array(array);
  if (schema == nullptr) return std::nullopt;
  if (schema->unit == "share of 1") return FloatRange{0, 1 + kRounding};
  if (schema->unit == "queries") return FloatRange{0, kLargest};
  if (schema->unit == "1") return FloatRange{-1 - kRounding, 1 + kRounding};
  return FloatRange{-kLargest, kLargest};
}

}  // namespace buoy::trace
