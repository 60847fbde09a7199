#include "buoy/analysis/sample/answer_span.h"

#include <algorithm>

namespace buoy::analysis {
namespace {

std::int64_t index_of(const std::vector<std::string>& names, const char* name) {
  const auto at = std::find(names.begin(), names.end(), name);
  return at == names.end() ? -1 : at - names.begin();
}

bool is_end(const ObservedSample& sample, std::int64_t position) {
  const auto at = static_cast<size_t>(position);
  return at < sample.ends.size() && sample.ends[at] != 0;
}

}  // namespace

std::int64_t answer_end(const ObservedSample& sample) {
  return trace::answer_end(sample.prompt_length, sample.tokens,
                           [&](std::int64_t p) { return is_end(sample, p); });
}

std::int64_t answer_end_at(const ObservedSample& sample, std::int64_t s) {
  return answer_end_of(sample, sample.place_of(s));
}

std::int64_t answer_end_of(const ObservedSample& sample, std::int64_t place) {
  const auto& ends = sample.end_tokens;
  return trace::answer_end(sample.prompt_length, sample.tokens, [&](std::int64_t p) {
    if (sample.masked_of(place, p)) return false;
    if (ends.empty()) return is_end(sample, p);
    return std::find(ends.begin(), ends.end(), sample.row_of(place)[static_cast<size_t>(p)]) != ends.end();
  });
}

bool ends_early(const ObservedSample& sample) {
  return answer_end(sample) < sample.tokens;
}

bool has_padding(const SampleFacts& sample) {
  return index_of(sample.group_names, trace::kPaddingName) >= 0;
}

trace::AnswerSpan group_span(const SampleFacts& sample, std::int64_t answer_end) {
  if (!has_padding(sample)) return {sample.prompt_length, sample.tokens, sample.tokens, 0};
  return {sample.prompt_length, answer_end, sample.tokens, sample.prediction_offset};
}

std::vector<std::int64_t> answer_groups(const SampleFacts& sample) {
  std::vector<std::int64_t> groups;
  for (size_t g = 0; g < sample.group_names.size(); ++g) {
    if (sample.group_names[g].starts_with(trace::kAnswerName)) groups.push_back(static_cast<std::int64_t>(g));
  }
  return groups;
}

AnswerRows answer_rows(const SampleFacts& sample, std::int64_t answer_end,
                       std::span<const std::int32_t> group_sizes, const Reach& reach) {
  std::int64_t queries = 0;
  for (const auto g : answer_groups(sample)) queries += group_sizes[static_cast<size_t>(g)];
  if (queries == 0) return {};
  const trace::AnswerSpan span = group_span(sample, answer_end);
  const std::int64_t first = std::max(trace::row_that_writes(span.prompt_length, span.offset), reach.first);
  return {first, std::max(first, std::min(std::min(span.end, span.tokens) - span.offset, reach.end))};
}

std::vector<std::int32_t> region_of_token_at(const SampleFacts& sample, std::int64_t answer_end) {
  auto regions = sample.region_of_token;
  const auto padding = index_of(sample.region_names, trace::kPaddingName);
  if (padding < 0) return regions;
  for (auto p = std::max(sample.prompt_length, answer_end); p < std::ssize(regions); ++p)
    regions[static_cast<size_t>(p)] = static_cast<std::int32_t>(padding);
  return regions;
}

}  // namespace buoy::analysis
