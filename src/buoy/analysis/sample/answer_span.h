#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "buoy/analysis/sample/observed_sample.h"
#include "buoy/trace/rows/answer_rows.h"

namespace buoy::analysis {

// Where the answer ends in the final row, and in the row that the observed forward `s` saw: a slot that is
// still masked is no end token yet (trace::answer_end()).
std::int64_t answer_end(const ObservedSample& sample);
std::int64_t answer_end_at(const ObservedSample& sample, std::int64_t s);
std::int64_t answer_end_of(const ObservedSample& sample, std::int64_t place);  // among all observed forwards

// Whether anything of its final row is padding.
bool ends_early(const ObservedSample& sample);

// Whether padding is a region of its own and query groups go by the tokens that rows write. Traces of before
// have neither: their groups go by the place of the query, and padding is answer.
bool has_padding(const SampleFacts& sample);

// Parts of the row by which the query groups of a sample were made, at a forward where the answer ends there.
trace::AnswerSpan group_span(const SampleFacts& sample, std::int64_t answer_end);

// The query groups of the rows that write the answer, by their names.
std::vector<std::int64_t> answer_groups(const SampleFacts& sample);

// The rows in these groups: [first, end), none when they are equal.
struct AnswerRows {
  std::int64_t first = 0, end = 0;
};
// At a forward where the answer ends there and query groups have these sizes, of the rows that ran.
AnswerRows answer_rows(const SampleFacts& sample, std::int64_t answer_end,
                       std::span<const std::int32_t> group_sizes, const Reach& reach);

// Region of every token when the answer ends there: [tokens], into region_names, trace::kNoRegion for none.
std::vector<std::int32_t> region_of_token_at(const SampleFacts& sample, std::int64_t answer_end);

}  // namespace buoy::analysis
