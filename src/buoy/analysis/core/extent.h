#pragma once

#include <string_view>
#include <vector>

#include "buoy/analysis/sample/sample_facts.h"
#include "buoy/trace/manifest.h"

namespace buoy::analysis {

// Sums over samples are kept by layer number: throws InputError for a sample with layers the model lacks.
void require_layers(const SampleFacts& sample, const trace::Manifest& manifest);

// Throws InputError unless the sample has the array (see require_array) with these sizes; -1: any.
void require_shape(const SampleFacts& sample, std::string_view array, const std::vector<std::int64_t>& shape);

}  // namespace buoy::analysis
