#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "buoy/trace/manifest.h"
#include "buoy/trace/stored_sample.h"

namespace buoy::analysis {

// Attention received in one step and layer, as shares: every vector over keys sums to one.
struct Received {
  std::int64_t heads = 0, tokens = 0;
  std::vector<double> share;  // [heads, tokens], mean over all queries
  std::vector<double> mean;   // [tokens], mean over the heads: what the paper uses

  const double* head(std::int64_t h) const { return share.data() + h * tokens; }
};

// One sample of a trace as analyses see it: what was asked, and the arrays by index into the observed steps
// and layers. Reads from the file what is asked for and no more.
class ObservedSample {
 public:
  ObservedSample(const trace::Manifest& manifest, trace::StoredSample stored);

  const std::string& id() const { return stored_.id(); }
  const trace::StoredSample& stored() const { return stored_; }

  bool causal = false;
  bool masked_diffusion = false;
  std::int64_t tokens = 0, prompt_length = 0, heads = 0, kv_heads = 0, head_dim = 0;
  std::int64_t prediction_offset = 0;       // the query that writes position p is at p - offset
  std::int32_t mask_token = -1;             // -1: none
  std::vector<std::int32_t> steps, layers;  // numbers of the observed ones; the look at the final row is none
  std::vector<std::int32_t> final_row;      // [tokens]
  std::vector<std::int32_t> revealed_at;    // [tokens], -1: prompt or never
  std::vector<std::string> token_texts;     // [tokens], empty when the trace has none
  std::vector<std::string> region_names;    // empty when the trace has none
  std::vector<std::int32_t> region_of_token;  // [tokens], trace::kNoRegion where there is none
  std::vector<std::string> gold_regions, answers;
  std::vector<std::uint8_t> evidence, special;  // [tokens], empty when the trace has none

  std::int64_t step_count() const { return static_cast<std::int64_t>(steps.size()); }
  // Forwards in the stored arrays: the steps, and the look at the final row.
  std::int64_t forward_count() const { return final_index_ + 1; }
  // Index for received() and row_at() of the forward that saw the final row, where there was one; else of the
  // last step.
  std::int64_t final_index() const { return final_index_; }
  // Whether that forward saw the finished row, nothing of it masked. The one pass of an autoregressive model
  // always does.
  bool has_final_row() const { return has_final_row_; }
  std::int64_t layer_count() const { return static_cast<std::int64_t>(layers.size()); }
  // The row as the forward of observed step `s` saw it; [tokens].
  std::vector<std::int32_t> row_at(std::int64_t s) const;
  // Whether a position was still masked when the forward of observed step `s` ran.
  bool masked_at(std::int64_t s, std::int64_t position) const;
  // The index of a step among the observed ones, -1 when it was not observed.
  std::int64_t index_of_step(std::int64_t step) const;

  // All queries; throws InputError saying which `observe` to add when the trace lacks it.
  Received received(std::int64_t s, std::int64_t l) const;
  // Queries of the named groups only (of group_names); zeros when they are empty at that step.
  Received received(std::int64_t s, std::int64_t l, const std::vector<std::int64_t>& groups) const;
  std::vector<std::string> group_names() const;

 private:
  trace::StoredSample stored_;
  std::vector<std::int32_t> tokens_by_step_;  // [S, T]
  std::vector<std::int32_t> group_sizes_;     // [S, G]
  std::int64_t groups_ = 0, final_index_ = 0;
  bool has_final_row_ = false;
};

// Throws InputError naming the `observe` that brings the array, unless the sample has it.
void require_array(const trace::StoredSample& sample, std::string_view array);

}  // namespace buoy::analysis
