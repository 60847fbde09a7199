#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "buoy/trace/reader.h"

namespace buoy::run {

// What every key of one sample received, by step and layer.
struct TopTraceSample {
  std::int64_t keys = 0;
  std::vector<std::vector<std::vector<double>>> received;  // [steps, layers] of [heads, keys]
  std::vector<std::int32_t> rows_run;  // [steps, 2]: the first row that ran, and where they end; empty: all
};

// A trace that says which keys receive most.
class TopTrace {
 public:
  explicit TopTrace(const std::filesystem::path& folder);  // InputError where it keeps less than full

  struct Asked {
    std::string id;
    std::span<const std::int32_t> prompt;
    std::int64_t layers, heads;
  };
  // InputError when the trace has no such question, asked it with another prompt, is of a model of another
  // size, or did not observe every step and layer.
  TopTraceSample sample(const Asked& asked) const;
  // InputError where the forward of that number ran other rows: how many forwards a block takes may differ.
  struct Rows {
    std::int64_t step, first, end;
  };
  void require_rows(const TopTraceSample& sample, const Rows& now) const;
  // What tells it from other traces.
  std::string sum() const;

 private:
  std::filesystem::path folder_;
  trace::TraceReader reader_;
};

}  // namespace buoy::run
