#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "buoy/analysis/sample/answer_span.h"

namespace buoy::analysis {

inline constexpr const char* kBosRegion = "bos";
inline constexpr const char* kTemplateRegion = "template";
inline constexpr const char* kQueryRegion = "query";
inline constexpr const char* kAnswerRegion = trace::kAnswerName;
inline constexpr const char* kPaddingRegion = trace::kPaddingName;
inline constexpr const char* kRevealedGroup = trace::kRevealedName;
inline constexpr const char* kMaskedGroup = trace::kMaskedName;

// The regions of one sample that hold tokens, and the query groups whose rows are theirs. Every region that
// is not BOS, template, query, answer or padding is a document. Before the first forward no token is padding.
struct SampleRegions {
  std::vector<std::string> names;             // in the order of the trace's region_names
  std::vector<double> lengths;                // tokens
  std::vector<std::int64_t> columns;          // their index among the trace's region_names
  std::vector<std::int32_t> region_of_token;  // [tokens], into names; -1: none
  std::int64_t answer = -1, padding = -1;     // -1: none
  std::vector<std::int64_t> documents;        // in the order they stand in
  std::vector<std::int64_t> gold, distractors;
  std::int64_t gold_position = 0;  // the one gold document among the documents, from 1; 0: none or several

  std::vector<std::vector<std::int64_t>> groups;  // [regions]: query groups of the region
  std::int64_t revealed = -1, masked = -1;        // query groups of the answer, -1: none
  bool all_rows = false;                          // every region has groups of its own

  std::int64_t count() const { return static_cast<std::int64_t>(names.size()); }
  std::int64_t find(const std::string& name) const;  // -1: none
};

// The regions at one forward: where the answer ends changes while it is written. Keys that do not exist yet,
// and queries that did not run, are in none.
struct ForwardRegions {
  std::vector<std::int32_t> of_token, of_query;  // [tokens], into SampleRegions::names; -1: none
  std::vector<double> lengths;                   // [regions]: tokens
  Reach reach;
};
ForwardRegions regions_at(const SampleRegions& regions, const SampleFacts& sample, std::int64_t answer_end,
                          const Reach& reach);

// Throws InputError when the trace has no regions, or no query group for the answer.
SampleRegions find_regions(const SampleFacts& sample);

}  // namespace buoy::analysis
