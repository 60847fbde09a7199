#include "buoy/analysis/sample/sample_regions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "buoy/base/error.h"
#include "buoy/trace/schema.h"

namespace buoy::analysis {
namespace {

bool is_document(const std::string& name) {
  return name != kBosRegion && name != kTemplateRegion && name != kQueryRegion && name != kAnswerRegion &&
         name != kPaddingRegion;
}

void find_groups(const SampleFacts& sample, SampleRegions& out) {
  const auto& group_names = sample.group_names;
  out.groups.resize(out.names.size());
  for (size_t g = 0; g < group_names.size(); ++g) {
    const auto index = static_cast<std::int64_t>(g);
    const bool revealed = group_names[g] == kRevealedGroup, masked = group_names[g] == kMaskedGroup;
    if (revealed) out.revealed = index;
    if (masked) out.masked = index;
    const auto region = out.find(revealed || masked ? kAnswerRegion : group_names[g]);
    if (region >= 0) out.groups[static_cast<size_t>(region)].push_back(index);
  }
  if (out.answer >= 0 && out.groups[static_cast<size_t>(out.answer)].empty()) {
    throw_input_error(
        {"sample " + sample.id() + ": group_names",
         "query groups of the answer, " + std::string(kRevealedGroup) + " among them",
         fmt::format("{}; trace again with `groups` regions (or state, which gives no rollout)",
                     group_names.empty() ? "none" : fmt::format("{}", fmt::join(group_names, ", ")))});
  }
  out.all_rows =
      std::none_of(out.groups.begin(), out.groups.end(), [](const auto& groups) { return groups.empty(); });
}

}  // namespace

std::int64_t SampleRegions::find(const std::string& name) const {
  const auto at = std::find(names.begin(), names.end(), name);
  return at == names.end() ? -1 : at - names.begin();
}

ForwardRegions regions_at(const SampleRegions& regions, const SampleFacts& sample, std::int64_t answer_end,
                          const Reach& reach) {
  ForwardRegions out;
  out.reach = reach;
  out.of_token = regions.region_of_token;
  out.lengths.assign(static_cast<size_t>(regions.count()), 0.0);
  const trace::AnswerSpan span = group_span(sample, answer_end);
  for (std::int64_t i = 0; i < sample.tokens; ++i) {
    auto& region = out.of_token[static_cast<size_t>(i)];
    switch (trace::kind_of_row(i, span)) {
      case trace::RowKind::kPrompt:
        out.of_query.push_back(region);
        break;
      case trace::RowKind::kAnswer:
        out.of_query.push_back(static_cast<std::int32_t>(regions.answer));
        break;
      case trace::RowKind::kPadding:
        out.of_query.push_back(static_cast<std::int32_t>(regions.padding));
        break;
    }
    if (!reach.ran(i)) out.of_query.back() = -1;
    if (regions.padding >= 0 && i >= std::max(sample.prompt_length, answer_end))
      region = static_cast<std::int32_t>(regions.padding);
    if (i >= reach.end) region = -1;
    if (region >= 0) out.lengths[static_cast<size_t>(region)] += 1;
  }
  return out;
}

SampleRegions find_regions(const SampleFacts& sample) {
  require_array(sample, trace::kRegionOfToken);
  SampleRegions out;
  std::vector<double> lengths(sample.region_names.size(), 0.0);
  std::vector<std::int64_t> first(lengths.size(), 0);
  for (std::int64_t i = sample.tokens - 1; i >= 0; --i) {
    const auto region = sample.region_of_token[static_cast<size_t>(i)];
    if (region == trace::kNoRegion) continue;
    if (static_cast<size_t>(region) >= lengths.size()) {
      throw_input_error({"sample " + sample.id() + ": region_of_token",
                         "numbers below " + std::to_string(lengths.size()), std::to_string(region)});
    }
    lengths[static_cast<size_t>(region)] += 1;
    first[static_cast<size_t>(region)] = i;
  }
  std::vector<std::int32_t> place(lengths.size(), -1);
  const auto slots = std::find(sample.region_names.begin(), sample.region_names.end(), kAnswerRegion);
  const bool answers = slots != sample.region_names.end() &&
                       lengths[static_cast<size_t>(slots - sample.region_names.begin())] > 0;
  for (size_t r = 0; r < lengths.size(); ++r) {
    const bool pads = answers && sample.region_names[r] == kPaddingRegion && has_padding(sample);
    if (lengths[r] == 0 && !pads) continue;
    const auto at = static_cast<std::int64_t>(out.names.size());
    place[r] = static_cast<std::int32_t>(at);
    if (is_document(sample.region_names[r])) out.documents.push_back(at);
    out.names.push_back(sample.region_names[r]);
    out.lengths.push_back(lengths[r]);
    out.columns.push_back(static_cast<std::int64_t>(r));
  }
  for (const auto region : sample.region_of_token)
    out.region_of_token.push_back(region == trace::kNoRegion ? -1 : place[static_cast<size_t>(region)]);
  out.answer = out.find(kAnswerRegion);
  out.padding = out.find(kPaddingRegion);
  const auto first_token = [&](std::int64_t region) {
    return first[static_cast<size_t>(out.columns[static_cast<size_t>(region)])];
  };
  std::sort(out.documents.begin(), out.documents.end(),
            [&](std::int64_t a, std::int64_t b) { return first_token(a) < first_token(b); });
  for (size_t d = 0; d < out.documents.size(); ++d) {
    const auto& name = out.names[static_cast<size_t>(out.documents[d])];
    const bool gold = std::count(sample.gold_regions.begin(), sample.gold_regions.end(), name) > 0;
    (gold ? out.gold : out.distractors).push_back(out.documents[d]);
    if (gold) out.gold_position = out.gold.size() == 1 ? static_cast<std::int64_t>(d) + 1 : 0;
  }
  find_groups(sample, out);
  return out;
}

}  // namespace buoy::analysis
