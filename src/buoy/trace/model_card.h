#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "buoy/base/error.h"

namespace buoy::trace {

// Which weights were run.
struct ModelCard {
  std::string name;          // for people: "LLaDA-8B-Instruct"
  std::string family;        // "LLaDA"
  std::string architecture;  // as config.json has it
  std::string stored_dtype;  // "BF16"
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t hidden = 0;
  std::int64_t vocabulary = 0;
  std::int64_t parameters = 0;  // numbers in all tensors of its files; 0: not known
  std::string commit = {};      // for people: of its Hugging Face snapshot; "": the folder is none
  std::string untrained = {};   // how its weights were drawn; "": they were read from files
  std::string config_sha256;    // of config.json
  std::string weights_sha256;   // of the layout and of pieces of all files (docs/trace-format.md)
};

// The sizes of a model, each with the largest the format takes: past every model there is, and small enough
// that nothing computed from them overflows or fills the memory. The smallest is 1.
struct SizeLimit {
  const char* name;
  std::int64_t ModelCard::*size;
  std::int64_t most;
};
inline constexpr std::array kSizeLimits = {
    SizeLimit{"layers", &ModelCard::layers, 1024},
    SizeLimit{"heads", &ModelCard::heads, 1024},
    SizeLimit{"kv_heads", &ModelCard::kv_heads, 1024},
    SizeLimit{"head_dim", &ModelCard::head_dim, 1 << 16},
    SizeLimit{"hidden", &ModelCard::hidden, INT32_MAX},
    SizeLimit{"vocabulary", &ModelCard::vocabulary, INT32_MAX},
};
inline constexpr std::int64_t kMostHeadsOfAllLayers = 1 << 17;

// What is wrong with the sizes of a model, `where` being the field alone.
std::optional<Mismatch> find_mismatch(const ModelCard& model);

}  // namespace buoy::trace
