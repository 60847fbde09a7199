#include "buoy/analysis/sample/stored_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "buoy/analysis/sample/answer_span.h"
#include "buoy/base/error.h"
#include "buoy/trace/schema.h"

namespace buoy::analysis {
namespace {

std::vector<std::uint8_t> flags(const trace::StoredSample& sample, std::string_view name) {
  if (!sample.has(name)) return {};
  const auto values = sample.integers(name);
  return {values.begin(), values.end()};
}

std::vector<std::string> texts(const trace::StoredSample& sample, std::string_view key) {
  return sample.has_text(key) ? sample.text_list(key) : std::vector<std::string>{};
}

// The steps, and which of the forwards looked at the final row.
void read_forwards(const trace::StoredSample& stored, ObservedSample& out) {
  out.steps = stored.integers(trace::kSteps);
  out.layers = stored.integers(trace::kLayers);
  out.last_forward = std::ssize(out.steps) - 1;
  const bool looked_back = stored.has_text(trace::kFinalStep) && !out.steps.empty() &&
                           stored.integer_text(trace::kFinalStep) == out.steps.back();
  out.sees_final_row = looked_back || !stored.has_text(trace::kMaskToken);
  if (looked_back && out.steps.size() > 1) out.steps.pop_back();
}

// Of the last denoising step: the look at the final row comes behind it; where there is none, the last that
// revealed something.
std::int32_t last_step_of(const trace::StoredSample& stored, const ObservedSample& sample) {
  if (!sample.masked_diffusion) return -1;
  if (sample.blocks && !stored.has_text(trace::kFinalStep)) return sample.blocks->last_reveal();
  if (stored.has_text(trace::kFinalStep))
    return static_cast<std::int32_t>(stored.integer_text(trace::kFinalStep)) - 1;
  return sample.revealed_at.empty() ? -1
                                    : *std::max_element(sample.revealed_at.begin(), sample.revealed_at.end());
}

// Which tokens end an answer. Traces of before do not say: there every special token does, but a mask.
std::vector<std::uint8_t> ends_of(const trace::StoredSample& stored, const ObservedSample& sample) {
  if (stored.has(trace::kEnds)) return flags(stored, trace::kEnds);
  auto ends = sample.special;
  for (size_t j = 0; j < ends.size(); ++j) {
    if (sample.final_row[j] == sample.mask_token) ends[j] = 0;
  }
  return ends;
}

// As it was before the first forward: nothing is padding.
void forget_padding(ObservedSample& sample) {
  const auto at = [&](const char* name) {
    return std::find(sample.region_names.begin(), sample.region_names.end(), name) -
           sample.region_names.begin();
  };
  const auto padding = at(trace::kPaddingName), answer = at(trace::kAnswerName);
  if (std::max(padding, answer) >= std::ssize(sample.region_names)) return;
  for (auto& region : sample.region_of_token) {
    if (region == padding) region = static_cast<std::int32_t>(answer);
  }
}

// Arrays that were observed and are not kept: analyses are begun as they were when the sample ran.
void list_observed(const trace::Manifest& manifest, ObservedSample& sample) {
  for (const auto name : {trace::kTokensByStep, trace::kGroupSizes}) require_array(sample, name);
  // A state may be short where what it stands for is large.
  constexpr std::int64_t kMostRecords = 1 << 22;
  const std::int64_t forwards = sample.shape(trace::kTokensByStep)[0], layers = sample.layer_count();
  if (forwards * layers > kMostRecords) {
    throw_input_error({"sample " + sample.id(), fmt::format("at most {} forwards and layers", kMostRecords),
                       fmt::format("{} x {}", forwards, layers)});
  }
  const auto size_of = [&](char letter) -> std::int64_t {
    switch (letter) {
      case 'S':
        return forwards;
      case 'L':
        return layers;
      case 'G':
        return sample.shape(trace::kGroupSizes)[1];
      case 'H':
        return sample.heads;
      case 'V':
        return sample.kv_heads;
      case 'T':
        return sample.tokens;
      case 'C':
        return std::ssize(sample.region_names);
      case 'R':
        return std::ssize(sample.row_positions);
      case 'A':
        return sample.tokens - sample.prompt_length;
      default:
        return 1;  // top keys and tokens, of which analyses take the first
    }
  };
  for (const auto& observed : trace::observed_names(manifest)) {
    for (const auto& array : trace::array_schema()) {
      if (array.observe != observed || array.name.ends_with('}')) continue;
      std::vector<std::int64_t> shape;
      for (const char letter : array.shape) {
        if (letter != ' ') shape.push_back(size_of(letter));
      }
      sample.arrays.try_emplace(std::string(array.name), std::move(shape));
    }
  }
}

}  // namespace

StoredSource::StoredSource(const trace::Manifest& manifest, trace::StoredSample stored)
    : stored_(std::move(stored)), level_(manifest.level) {
  sample_.name = stored_.id();
  for (const auto& name : stored_.names()) sample_.arrays.emplace(name, stored_.shape(name));
  for (const auto name : {trace::kTokens, trace::kSteps, trace::kLayers}) require_array(sample_, name);
  for (const auto text : {trace::kPromptLength, trace::kAttention}) {
    if (!stored_.has_text(text)) {
      throw_input_error({"sample " + sample_.id(), fmt::format("the text {}", text),
                         "none; trace again with this version of Buoy"});
    }
  }
  ObservedSample& s = sample_;
  s.final_row = stored_.integers(trace::kTokens);
  s.tokens = std::ssize(s.final_row);
  numbers_ = stored_.integers(trace::kSteps);
  read_forwards(stored_, s);
  s.prompt_length = stored_.integer_text(trace::kPromptLength);
  s.heads = manifest.model.heads;
  s.kv_heads = manifest.model.kv_heads;
  s.head_dim = manifest.model.head_dim;
  const std::string attention = stored_.text(trace::kAttention);
  if (attention == trace::kCausalAttention) s.mask = kCausalMask;
  if (attention == trace::kPrefixAttention) s.mask = prefix_mask(s.prompt_length);
  if (stored_.has_text(trace::kMaskToken)) {
    s.mask_token = static_cast<std::int32_t>(stored_.integer_text(trace::kMaskToken));
    s.masked_diffusion = true;
  }
  if (stored_.has_text(trace::kPredictionOffset))
    s.prediction_offset = stored_.integer_text(trace::kPredictionOffset);
  s.revealed_at = stored_.has(trace::kRevealedAt) ? stored_.integers(trace::kRevealedAt)
                                                  : std::vector<std::int32_t>(s.final_row.size(), -1);
  if (attention == trace::kBlocksAttention) read_blocks();
  s.last_step = last_step_of(stored_, s);
  if (stored_.has(trace::kTokensByStep)) {
    const auto all = stored_.integers(trace::kTokensByStep);
    for (auto row = all.begin(); row != all.end(); row += s.tokens) s.rows.emplace_back(row, row + s.tokens);
  }
  if (stored_.has(trace::kGroupSizes)) group_sizes_ = stored_.integers(trace::kGroupSizes);
  s.token_texts = texts(stored_, trace::kTokenTexts);
  s.has_texts = s.tokens > 0 && std::ssize(s.token_texts) == s.tokens;
  s.region_names = texts(stored_, trace::kRegionNames);
  s.gold_regions = texts(stored_, trace::kGoldRegions);
  s.group_names = texts(stored_, trace::kGroupNames);
  s.answers = texts(stored_, trace::kAnswers);
  if (stored_.has_text(trace::kRight)) s.right = stored_.integer_text(trace::kRight) != 0 ? 1 : 0;
  if (stored_.has_text(trace::kQuestion)) s.question = stored_.text(trace::kQuestion);
  if (stored_.has(trace::kRegionOfToken)) s.region_of_token = stored_.integers(trace::kRegionOfToken);
  if (stored_.has(trace::kRowPositions)) s.row_positions = stored_.integers(trace::kRowPositions);
  s.evidence = flags(stored_, trace::kEvidence);
  s.special = flags(stored_, trace::kSpecial);
  s.template_text = flags(stored_, trace::kTemplateText);
  s.ends = ends_of(stored_, s);
  forget_padding(s);
  types_ = token_types(s, {s.token_texts, s.special});
  if (level_ != trace::Level::kFull) list_observed(manifest, s);
}

void StoredSource::read_blocks() {
  sample_.mask =
      block_mask(stored_.integer_text(trace::kBlockLength), stored_.integer_text(trace::kGridOrigin));
  auto blocks = std::make_shared<BlockForwards>();
  blocks->kinds = flags(stored_, trace::kStepKinds);
  blocks->rows_run = stored_.integers(trace::kRowsRun);
  if (stored_.has(trace::kReveals)) blocks->reveals = stored_.integers(trace::kReveals);
  blocks->length = sample_.mask.block;
  blocks->origin = sample_.mask.origin;
  if (stored_.has_text(trace::kDenoisedLength)) {
    blocks->length = stored_.integer_text(trace::kDenoisedLength);
    blocks->origin = stored_.integer_text(trace::kDenoisedOrigin);
  } else if (blocks->length == 1) {
    // Traces of before do not say how finished blocks that are stored causally were denoised: whole ones ran.
    for (std::int64_t place = 0; place < std::ssize(blocks->kinds); ++place) {
      const auto at = static_cast<size_t>(2 * place);
      const std::int64_t rows = blocks->rows_run[at + 1] - blocks->rows_run[at];
      if (!blocks->denoises(place) || rows <= blocks->length) continue;
      blocks->length = rows;
      blocks->origin = blocks->rows_run[at];
    }
  }
  if (stored_.has_text(trace::kEndTokens)) {
    for (const auto& id : stored_.text_list(trace::kEndTokens))
      sample_.end_tokens.push_back(static_cast<std::int32_t>(std::stol(id)));  // sample_rules.cc read it
  }
  sample_.steps = stored_.integers(trace::kSteps);
  sample_.blocks = std::move(blocks);
  show_denoising(sample_);
}

std::vector<std::int32_t> StoredSource::group_sizes_of(std::int64_t place) const {
  if (!sample_.has(trace::kGroupSizes)) return {};
  const std::int64_t groups = sample_.shape(trace::kGroupSizes)[1];
  const auto begin = group_sizes_.begin() + place * groups;
  return {begin, begin + groups};
}

ForwardFacts StoredSource::forward(std::int64_t place) const {
  ForwardFacts out;
  out.place = place;
  out.index = sample_.index_of_place(place);
  out.is_step = out.shown() && out.index < sample_.step_count();
  out.number = numbers_[static_cast<size_t>(place)];
  out.row = sample_.row_of(place);
  out.revealed_at =
      sample_.blocks ? sample_.blocks->revealed_before(sample_.tokens, out.number) : sample_.revealed_at;
  out.types = types_;
  out.answer_end = answer_end_of(sample_, place);
  for (std::int64_t j = 0; j < sample_.tokens; ++j) out.masked.push_back(sample_.masked_of(place, j) ? 1 : 0);
  out.group_sizes = group_sizes_of(place);
  classify(sample_, out);
  return out;
}

Received StoredSource::received(std::int64_t s, std::int64_t l) const {
  return received_of(sample_.place_of(s), l);
}

Received StoredSource::received_of(std::int64_t place, std::int64_t l) const {
  if (level_ != trace::Level::kFull)
    throw_input_error({"sample " + sample_.id(), "the array received, in a trace that keeps full",
                       fmt::format("one that keeps {}", name_of(level_))});
  require_array(sample_, trace::kReceived);
  const auto sums = stored_.floats_at(trace::kReceived, {place, l});
  const auto sizes = group_sizes_of(place);
  std::vector<std::int64_t> all(sizes.size());
  std::iota(all.begin(), all.end(), 0);
  Received out;
  fill_received({sums, sizes, all, sample_.heads, sample_.tokens}, out);
  return out;
}

void StoredLayer::at(std::int64_t place, std::int64_t l) {
  place_ = place;
  l_ = l;
  floats_.clear();
  integers_.clear();
}

std::vector<std::int64_t> StoredLayer::place_in(const trace::ArraySchema& schema) const {
  return schema.shape.starts_with("S L") ? std::vector{place_, l_} : std::vector{place_};
}

// Large arrays are one for each step and layer, named so; the others hold all of them.
std::span<const float> StoredLayer::floats(std::string_view array) {
  const auto found = floats_.find(array);
  if (found != floats_.end()) return found->second;
  const auto* schema = trace::find_array(array);
  const bool whole = schema == nullptr || schema->name != array;
  auto values = whole ? source_.stored().floats(array) : source_.stored().floats_at(array, place_in(*schema));
  return floats_.emplace(array, std::move(values)).first->second;
}

std::span<const std::int32_t> StoredLayer::integers(std::string_view array) {
  const auto found = integers_.find(array);
  if (found != integers_.end()) return found->second;
  const auto* schema = trace::find_array(array);
  BUOY_CHECK(schema != nullptr);
  return integers_.emplace(array, source_.stored().integers_at(array, place_in(*schema))).first->second;
}

}  // namespace buoy::analysis
