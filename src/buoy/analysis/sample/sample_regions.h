#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "buoy/analysis/sample/sample_facts.h"

namespace buoy::analysis {

inline constexpr const char* kBosRegion = "bos";
inline constexpr const char* kTemplateRegion = "template";
inline constexpr const char* kQueryRegion = "query";
inline constexpr const char* kAnswerRegion = "answer";
inline constexpr const char* kRevealedGroup = "answer, revealed";
inline constexpr const char* kMaskedGroup = "answer, masked";

// The regions of one sample that hold tokens, and the query groups whose rows are theirs. Every region that
// is not BOS, template, query or answer is a document.
struct SampleRegions {
  std::vector<std::string> names;             // in the order of the trace's region_names
  std::vector<double> lengths;                // tokens
  std::vector<std::int64_t> columns;          // their index among the trace's region_names
  std::vector<std::int32_t> region_of_token;  // [tokens], into names; -1: none
  std::int64_t answer = -1;
  std::vector<std::int64_t> documents;  // in the order they stand in
  std::vector<std::int64_t> gold, distractors;
  std::int64_t gold_position = 0;  // the one gold document among the documents, from 1; 0: none or several

  std::vector<std::vector<std::int64_t>> groups;  // [regions]: query groups of the region
  std::int64_t revealed = -1, masked = -1;        // query groups of the answer, -1: none
  bool all_rows = false;                          // every region has groups of its own

  std::int64_t count() const { return static_cast<std::int64_t>(names.size()); }
  std::int64_t find(const std::string& name) const;  // -1: none
};

// Throws InputError when the trace has no regions, or no query group for the answer.
SampleRegions find_regions(const SampleFacts& sample);

}  // namespace buoy::analysis
