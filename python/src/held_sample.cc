#include "held_sample.h"

#include <utility>

#include "buoy/base/error.h"
#include "buoy/trace/schema.h"

namespace buoy::python {

// As run/live/trace_sink.cc writes them: the rest of what is known of tokens stands last.
void add_observed(trace::Sample& sample, std::vector<trace::Array> observed) {
  auto framed = std::exchange(sample.arrays, {});
  const auto take = [&](std::string_view name) {
    for (auto& array : framed) {
      if (array.name == name) sample.arrays.push_back(std::move(array));
    }
  };
  for (const auto name : {trace::kTokens, trace::kRevealedAt, trace::kRegionOfToken, trace::kEvidence})
    take(name);
  for (auto& array : observed) sample.arrays.push_back(std::move(array));
  for (const auto name : {trace::kSpecial, trace::kTemplateText, trace::kEnds}) take(name);
  BUOY_CHECK(sample.arrays.size() == framed.size() + observed.size());
}

}  // namespace buoy::python
