#pragma once

#include <string_view>
#include <vector>

#include "buoy/analysis/sample/forward_facts.h"
#include "buoy/analysis/sample/layer_values.h"
#include "buoy/analysis/sample/observed_sample.h"
#include "buoy/analysis/sample/received.h"
#include "buoy/trace/schema.h"
#include "buoy/trace/stored_sample.h"

namespace buoy::analysis {

// A sample of a trace as a source of what analyses take. Reads from the file what is asked for and no more.
class StoredSource {
 public:
  StoredSource(const trace::Manifest& manifest, trace::StoredSample stored);

  const ObservedSample& sample() const { return sample_; }
  const trace::StoredSample& stored() const { return stored_; }
  void set_number(std::int64_t number) { sample_.number = number; }
  // Below full there are states of analyses in place of the arrays that were observed.
  trace::Level level() const { return level_; }

  // A forward by its place among all that are stored; analyses take those that SampleFacts::shown names.
  ForwardFacts forward(std::int64_t place) const;
  // Received attention of all queries, of a forward that analyses take; throws InputError when the trace
  // lacks it.
  Received received(std::int64_t s, std::int64_t l) const;
  // The same of any forward that is stored, by its place.
  Received received_of(std::int64_t place, std::int64_t l) const;
  const std::vector<std::int32_t>& numbers() const { return numbers_; }  // of all that are stored

 private:
  void read_blocks();
  std::vector<std::int32_t> group_sizes_of(std::int64_t place) const;

  trace::StoredSample stored_;
  trace::Level level_;
  ObservedSample sample_;
  std::vector<std::int32_t> numbers_;      // [S]: of the steps
  std::vector<std::int32_t> group_sizes_;  // [S, G]
  std::vector<TokenType> types_;           // [tokens], of the final row
};

// The arrays of one forward and layer of it, or of the forward as a whole.
class StoredLayer final : public LayerValues {
 public:
  explicit StoredLayer(const StoredSource& source) : source_(source) {}

  void at(std::int64_t place, std::int64_t l);
  std::span<const float> floats(std::string_view array) override;
  std::span<const std::int32_t> integers(std::string_view array) override;

 private:
  std::vector<std::int64_t> place_in(const trace::ArraySchema& schema) const;

  const StoredSource& source_;
  std::int64_t place_ = 0, l_ = 0;
  std::map<std::string, std::vector<float>, std::less<>> floats_;
  std::map<std::string, std::vector<std::int32_t>, std::less<>> integers_;
};

}  // namespace buoy::analysis
