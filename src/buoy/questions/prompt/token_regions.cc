#include "buoy/questions/prompt/token_regions.h"

#include <algorithm>
#include <map>

#include "buoy/base/error.h"

namespace buoy::questions {
namespace {

// The index in `regions` of the region that holds most of the token; regions.size() for the template.
std::size_t region_of(const text::ByteSpan& token, std::span<const RegionSpan> regions) {
  const auto first = std::partition_point(
      regions.begin(), regions.end(), [&](const RegionSpan& region) { return region.end <= token.begin; });
  if (token.begin == token.end) {
    const bool inside = first != regions.end() && first->begin <= token.begin;
    return inside ? static_cast<std::size_t>(first - regions.begin()) : regions.size();
  }
  std::size_t best = regions.size(), best_bytes = 0;
  std::size_t template_bytes = 0, template_begin = token.end, best_begin = token.end;
  std::size_t at = token.begin;
  const auto add_template = [&](std::size_t end) {
    if (at >= end) return;
    if (template_bytes == 0) template_begin = at;
    template_bytes += end - at;
  };
  for (auto region = first; region != regions.end() && region->begin < token.end; ++region) {
    const std::size_t begin = std::max<std::size_t>(region->begin, token.begin);
    const std::size_t end = std::min<std::size_t>(region->end, token.end);
    add_template(begin);
    at = end;
    if (end - begin > best_bytes) {
      best = static_cast<std::size_t>(region - regions.begin());
      best_bytes = end - begin;
      best_begin = begin;
    }
  }
  add_template(token.end);
  const bool template_wins =
      template_bytes > best_bytes || (template_bytes == best_bytes && template_begin < best_begin);
  return template_wins ? regions.size() : best;
}

void check(std::span<const RegionSpan> regions) {
  for (std::size_t i = 0; i < regions.size(); ++i) {
    BUOY_CHECK(regions[i].begin < regions[i].end);
    BUOY_CHECK(i == 0 || regions[i - 1].end <= regions[i].begin);
  }
}

}  // namespace

TokenRegions regions_of_tokens(std::span<const text::ByteSpan> tokens, std::span<const RegionSpan> regions,
                               bool first_is_bos) {
  check(regions);
  TokenRegions result;
  std::map<std::string, std::int32_t, std::less<>> numbers;
  const auto number_of = [&](std::string_view name) {
    const auto [entry, fresh] =
        numbers.try_emplace(std::string(name), static_cast<std::int32_t>(numbers.size()));
    if (fresh) result.names.emplace_back(name);
    return entry->second;
  };
  if (first_is_bos) number_of(kBosRegion);
  number_of(kTemplateRegion);
  for (const RegionSpan& region : regions) number_of(region.name);

  result.region_of_token.reserve(tokens.size());
  for (const text::ByteSpan& token : tokens) {
    if (first_is_bos && result.region_of_token.empty()) {
      result.region_of_token.push_back(number_of(kBosRegion));
      continue;
    }
    const std::size_t region = region_of(token, regions);
    result.region_of_token.push_back(
        number_of(region == regions.size() ? kTemplateRegion : std::string_view(regions[region].name)));
  }
  return result;
}

std::vector<std::uint8_t> tokens_outside(std::span<const text::ByteSpan> tokens,
                                         std::span<const RegionSpan> spans) {
  check(spans);
  std::vector<std::uint8_t> outside;
  for (const text::ByteSpan& token : tokens)
    outside.push_back(region_of(token, spans) == spans.size() ? 1 : 0);
  return outside;
}

void add_answer_slots(TokenRegions& regions, std::size_t slots) {
  const auto number = static_cast<std::int32_t>(regions.names.size());
  regions.names.emplace_back(kAnswerRegion);
  regions.region_of_token.insert(regions.region_of_token.end(), slots, number);
}

std::vector<std::int32_t> tokens_touching(std::span<const text::ByteSpan> tokens,
                                          std::span<const RegionSpan> spans) {
  std::vector<std::int32_t> touching;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const bool touches = std::any_of(spans.begin(), spans.end(), [&](const RegionSpan& span) {
      return std::max<std::size_t>(tokens[i].begin, span.begin) <
             std::min<std::size_t>(tokens[i].end, span.end);
    });
    if (touches) touching.push_back(static_cast<std::int32_t>(i));
  }
  return touching;
}

}  // namespace buoy::questions
