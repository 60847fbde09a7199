#pragma once

#include <map>
#include <string>
#include <vector>

#include "buoy/analysis/core/run.h"
#include "buoy/base/random.h"
#include "buoy/result/table.h"
#include "buoy/trace/manifest.h"
#include "buoy/trace/sample.h"

namespace buoy::testing {

struct ModelSize {
  std::int64_t layers = 1, heads = 1, head_dim = 4;
};

// A trace made up in a test: planted effects of known size.
class SyntheticTrace {
 public:
  explicit SyntheticTrace(const ModelSize& size);

  // With the texts and arrays every sample has.
  struct Row {
    std::vector<std::int32_t> tokens;
    std::int64_t prompt_length = 0, steps = 1;
    bool causal = false;
  };
  trace::Sample& add(const Row& row);
  void of_blocks() { manifest_.blocks = true; }  // its model decodes blocks

  // Writes it, runs one analysis over it, gives its tables.
  std::vector<Table> analyze(const std::string& name, const analysis::AnalysisOptions& options = {}) const;

 private:
  ModelSize size_;
  trace::Manifest manifest_;
  std::vector<trace::Sample> samples_;
};

const Table& table_of(const std::vector<Table>& tables, const std::string& name);
// The rows in which columns have these values, as text.
Table rows_where(const Table& table, const std::map<std::string, std::string>& where);
// One number of the only such row; fails the test when there is not exactly one.
double number_at(const Table& table, const std::map<std::string, std::string>& where,
                 const std::string& column);

// Draws that depend on their address alone.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : seed_(seed) {}
  double flat() { return uniform(seed_, next()); }
  double bell() { return normal(seed_, next()); }
  std::int64_t below(std::int64_t count) {
    return static_cast<std::int64_t>(flat() * static_cast<double>(count));
  }

 private:
  DrawAddress next() { return {DrawStream::kWeights, 0, 0, index_++}; }
  std::uint64_t seed_;
  std::uint32_t index_ = 0;
};

}  // namespace buoy::testing
