#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "buoy/trace/array.h"
#include "buoy/trace/model_card.h"
#include "buoy/trace/sample_layout.h"
#include "buoy/trace/storage.h"

namespace buoy::trace {

// One prompt and everything observed while it was answered. Names and keys are those of schema.h.
struct Sample {
  std::string id;
  std::vector<Array> arrays;
  std::map<std::string, std::string> metadata;
};

// An id names a file: 1 to 128 of A-Z a-z 0-9 . _ -, not beginning with a dot. Throws UsageError.
void check_sample_id(const std::string& id);
bool is_sample_id(std::string_view id);

// Its file below the trace's folder: "samples/<id>.safetensors".
std::filesystem::path sample_file(const std::string& id);

// Throws UsageError when the sample is not what sample_rules.h asks of one; `model` is null where it is not
// known.
void check_sample(const Sample& sample, const ModelCard* model = nullptr);

// Everything about a sample but the values of its arrays.
struct SamplePlan {
  std::string id;
  std::vector<PlannedArray> arrays;          // all it will have
  std::map<std::string, std::string> texts;  // as far as they are known; keys are those of schema.h
  std::set<std::string> keep_f32;            // arrays whose finite values do not all fit F16
};
SamplePlan plan_of(const Sample& sample, Storage storage);

// The whole file (sample_layout.h), piece by piece; equal samples give equal bytes. With Storage::kF16 every
// F32 array whose finite values fit is stored as F16.
using ByteSink = std::function<void(std::span<const std::byte>)>;
void format_sample(const Sample& sample, Storage storage, const ByteSink& sink);
std::string format_sample(const Sample& sample, Storage storage);

// A list of texts as one metadata value; bytes that are no UTF-8 (a token may be half a character) become
// U+FFFD.
std::string format_text_list(std::span<const std::string> texts);

}  // namespace buoy::trace
