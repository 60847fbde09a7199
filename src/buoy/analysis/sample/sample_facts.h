#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "buoy/analysis/core/reach.h"
#include "buoy/analysis/sample/block_forwards.h"

namespace buoy::analysis {

// What is known of a sample before its first forward, whether it comes from a model or from a file.
struct SampleFacts {
  std::string name;      // its id
  std::string question;  // "": the trace has none
  // Samples in front of it. While samples run, those that will turn out to fail are counted too.
  std::int64_t number = 0;

  Mask mask;  // of the finished row; what a forward reached: reach_at()
  bool masked_diffusion = false;
  bool has_texts = false;  // tokens have texts
  std::int64_t tokens = 0, prompt_length = 0, heads = 0, kv_heads = 0, head_dim = 0;
  std::int64_t prediction_offset = 0;       // the query that writes position p is at p - offset
  std::int32_t mask_token = -1;             // -1: none
  std::vector<std::int32_t> steps, layers;  // numbers of the observed ones; the look at the final row is none
  std::shared_ptr<const BlockForwards> blocks;  // null: none are decoded
  // Of the forwards that are shown to analyses, their places among all that were observed. Empty: all are.
  std::vector<std::int64_t> shown;
  std::int32_t last_step = -1;            // number of the last denoising step, observed or not; -1: none
  std::vector<std::string> region_names;  // empty when there are none
  // [tokens], trace::kNoRegion where there is none; no padding yet: see region_of_token_at().
  std::vector<std::int32_t> region_of_token;
  std::vector<std::string> gold_regions, answers;
  std::vector<std::uint8_t> evidence;       // [tokens], empty when there is none
  std::vector<std::uint8_t> template_text;  // [tokens], empty when only the region "template" is known
  std::vector<std::string> group_names;     // of query groups
  std::vector<std::int32_t>
      row_positions;  // query rows looked at closely, ascending; empty when there are none

  // Arrays that will be observed, with the shapes a trace gives them.
  std::map<std::string, std::vector<std::int64_t>, std::less<>> arrays;

  const std::string& id() const { return name; }
  std::int64_t step_count() const { return static_cast<std::int64_t>(steps.size()); }
  std::int64_t layer_count() const { return static_cast<std::int64_t>(layers.size()); }
  // Forwards that analyses take: the steps, and the look at the final row.
  std::int64_t forward_count() const { return final_index() + 1; }
  // All that were observed: those of arrays.
  std::int64_t observed_count() const { return blocks ? std::ssize(blocks->kinds) : forward_count(); }
  std::int64_t place_of(std::int64_t s) const { return shown.empty() ? s : shown[static_cast<size_t>(s)]; }
  std::int64_t index_of_place(std::int64_t place) const;  // -1: analyses do not take it
  // What the rows see that ran in a forward, by its place and by its index among those that are shown.
  Reach reach_of(std::int64_t place) const;
  Reach reach_at(std::int64_t s) const { return reach_of(place_of(s)); }
  // Index of the forward that saw the final row, where there was one; else of the last step.
  std::int64_t final_index() const { return last_forward; }
  // Whether that forward saw the finished row, nothing of it masked. The one pass of an autoregressive model
  // always does.
  bool has_final_row() const { return sees_final_row; }
  // The index of a step among the observed ones, -1 when it was not observed.
  std::int64_t index_of_step(std::int64_t step) const;

  bool has(std::string_view array) const { return arrays.find(array) != arrays.end(); }
  const std::vector<std::int64_t>& shape(std::string_view array) const;  // of one there is

  std::int64_t last_forward = -1;  // see final_index()
  bool sees_final_row = false;
};

// Throws InputError naming what brings the array, unless the sample has it.
void require_array(const SampleFacts& sample, std::string_view array);

}  // namespace buoy::analysis
