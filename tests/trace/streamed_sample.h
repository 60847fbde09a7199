#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "buoy/trace/sample.h"
#include "buoy/trace/sample_file.h"

namespace buoy::testing {

// A sample of the small trace's model with arrays of every kind: stacks over steps and layers, matrices of
// one step and layer, integers, bytes. Its values are no round numbers. About 200 * tokens floats.
trace::Sample stacked_sample(const std::string& id, std::int64_t tokens);

// One cell of an array.
struct Cell {
  const trace::Array* array;
  std::int64_t number;
};

// The arrays of the sample that come cell by cell (the rest is handed over in the end), every cell of them.
std::vector<Cell> cells_of(const trace::Sample& sample);
void put(trace::SampleFile& file, const Cell& cell);

// The plan with those cells and without the texts that are known only in the end.
trace::SamplePlan streamed_plan(const trace::Sample& sample, trace::Storage storage);
// What is handed over in the end.
std::vector<trace::Array> small_arrays(const trace::Sample& sample);

}  // namespace buoy::testing
