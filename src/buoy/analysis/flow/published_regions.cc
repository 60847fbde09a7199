#include "buoy/analysis/flow/published_regions.h"

#include <algorithm>

#include "buoy/trace/schema.h"

namespace buoy::analysis {

PublishedRegions::PublishedRegions(const SampleFacts& sample, const SampleRegions& regions)
    : answer_(static_cast<std::int32_t>(regions.answer)),
      padding_(static_cast<std::int32_t>(regions.padding)),
      template_(static_cast<std::int32_t>(regions.find(kTemplateRegion))) {
  if (regions.answer < 0 || !sample.has_final_row()) return;
  known_ = true;
  if (group_span(sample, sample.tokens).offset == 0) return;
  const auto& rows = sample.row_positions;
  const auto at = std::find(rows.begin(), rows.end(), sample.prompt_length - 1);
  known_ = sample.has(trace::kRowMass) && at != rows.end();
  if (known_) moved_row_ = at - rows.begin();
}

std::int32_t PublishedRegions::published(std::int32_t region) const {
  if (region < 0 || region == template_) return -1;
  return region == padding_ ? answer_ : region;
}

RegionMatrix PublishedRegions::mass(const RegionMatrix& by_writing, const LayerView& final_layer,
                                    const SampleRegions& regions) const {
  RegionMatrix out(by_writing.regions);
  const auto add = [&](std::int32_t from, std::int32_t to, double mass) {
    if (published(from) >= 0 && published(to) >= 0) out.at(published(from), published(to)) += mass;
  };
  const auto R = static_cast<std::int32_t>(by_writing.regions);
  for (std::int32_t a = 0; a < R; ++a) {
    for (std::int32_t b = 0; b < R; ++b) add(a, b, by_writing.at(a, b));
  }
  if (moved_row_ < 0) return out;
  const auto given = final_layer.floats(trace::kRowMass);  // [rows, heads, regions of the trace]
  const auto H = final_layer.sample.heads, width = std::ssize(final_layer.sample.region_names);
  const std::int32_t home =
      regions.region_of_token[static_cast<size_t>(final_layer.sample.prompt_length - 1)];
  for (std::int32_t b = 0; b < R; ++b) {
    double mass = 0;
    for (std::int64_t h = 0; h < H; ++h) {
      const std::int64_t at = (moved_row_ * H + h) * width + regions.columns[static_cast<size_t>(b)];
      mass += given[static_cast<size_t>(at)] / static_cast<double>(H);
    }
    add(answer_, b, -mass);
    add(home, b, mass);
  }
  // What is left where all was taken away is rounding.
  for (double& value : out.values) value = std::max(0.0, value);
  return out;
}

ForwardRegions PublishedRegions::regions(const SampleFacts& sample, const SampleRegions& regions) const {
  ForwardRegions out = regions_at(regions, sample, sample.tokens, whole_row(sample.mask, sample.tokens));
  std::fill(out.lengths.begin(), out.lengths.end(), 0.0);
  for (auto& region : out.of_token) {
    region = published(region);
    if (region >= 0) out.lengths[static_cast<size_t>(region)] += 1;
  }
  out.of_query = out.of_token;
  return out;
}

}  // namespace buoy::analysis
