#include "buoy/analysis/sample/sample_facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "buoy/base/error.h"
#include "buoy/trace/schema.h"

namespace buoy::analysis {

std::int64_t SampleFacts::index_of_step(std::int64_t step) const {
  const auto at = std::lower_bound(steps.begin(), steps.end(), step);
  return at != steps.end() && *at == step ? at - steps.begin() : -1;
}

std::int64_t SampleFacts::index_of_place(std::int64_t place) const {
  if (!blocks) return place;
  const auto at = std::lower_bound(shown.begin(), shown.end(), place);
  return at != shown.end() && *at == place ? at - shown.begin() : -1;
}

Reach SampleFacts::reach_of(std::int64_t place) const {
  if (!blocks || place < 0) return whole_row(mask, tokens);
  const auto at = static_cast<size_t>(2 * place);
  // Blocks may be denoised under another grid than that of the finished row.
  return {blocks->denoises(place) ? block_mask(blocks->length, blocks->origin) : mask, blocks->rows_run[at],
          blocks->rows_run[at + 1]};
}

const std::vector<std::int64_t>& SampleFacts::shape(std::string_view array) const {
  const auto at = arrays.find(array);
  BUOY_CHECK(at != arrays.end());
  return at->second;
}

void require_array(const SampleFacts& sample, std::string_view array) {
  if (sample.has(array)) return;
  const auto* schema = trace::find_array(array);
  throw_input_error({"sample " + sample.id(), fmt::format("the array {}", array),
                     schema != nullptr && !schema->observe.empty()
                         ? fmt::format("none; trace again with {} among `observe`", schema->observe)
                         : std::string(array == trace::kEvidence || array == trace::kRegionOfToken
                                           ? "none; trace again with `data` that has passages"
                                           : "none; trace again with this version of Buoy")});
}

}  // namespace buoy::analysis
