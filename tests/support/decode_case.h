#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "buoy/base/file/gzip.h"
#include "buoy/base/file/json_file.h"
#include "buoy/decode/autoregressive.h"
#include "buoy/decode/dream.h"
#include "buoy/decode/llada.h"

namespace buoy::testing {

// One run stored in a golden folder's decode.json.gz.
struct DecodeCase {
  std::string name;
  std::vector<std::int32_t> prompt, row, revealed_at;
  Json options;
};

inline std::vector<DecodeCase> read_decode_cases(const std::filesystem::path& folder) {
  std::vector<DecodeCase> cases;
  const auto path = folder / "decode.json.gz";
  for (const Json& entry : parse_json(read_plain_or_gzip(path), path.string())) {
    cases.push_back({entry.at("name"), entry.at("prompt_ids"), entry.at("row"), entry.at("revealed_at"),
                     entry.at("options")});
  }
  return cases;
}

inline std::unique_ptr<decode::StepMachine> make_machine(const model::Model& model, const DecodeCase& run) {
  const JsonObject o(run.options, run.name);
  const auto integer = [&](const char* key) { return static_cast<std::int32_t>(o.required_integer(key)); };
  const auto seed = static_cast<std::uint64_t>(o.required_integer("seed"));
  const double temperature = o.number("temperature").value_or(0);
  switch (model.config().family) {
    case Family::kLlada: {
      decode::LladaOptions options;
      options.max_new_tokens = integer("max_new_tokens");
      options.steps = integer("steps");
      options.block_length = integer("block_length");
      options.order = o.required_text("algorithm") == "random" ? decode::LladaOrder::kRandom
                                                               : decode::LladaOrder::kLowConfidence;
      options.temperature = temperature;
      options.cfg_scale = o.number("cfg_scale").value_or(0);
      options.logits_eos_inf = o.boolean("logits_eos_inf").value_or(false);
      options.confidence_eos_eot_inf = o.boolean("confidence_eos_eot_inf").value_or(false);
      options.mask_token = integer("mask_token_id");
      options.eos_token = integer("eos_token_id");
      options.eot_token = integer("eot_token_id");
      options.seed = seed;
      return std::make_unique<decode::LladaMachine>(run.prompt, options);
    }
    case Family::kDream: {
      decode::DreamOptions options;
      options.max_new_tokens = integer("max_new_tokens");
      options.steps = integer("steps");
      const auto algorithm = o.required_text("algorithm");
      options.algorithm = algorithm == "origin"         ? decode::DreamAlgorithm::kOrigin
                          : algorithm == "maskgit_plus" ? decode::DreamAlgorithm::kMaskgitPlus
                          : algorithm == "topk_margin"  ? decode::DreamAlgorithm::kTopkMargin
                                                        : decode::DreamAlgorithm::kEntropy;
      options.temperature = temperature;
      options.top_p = o.number("top_p");
      options.top_k = o.integer("top_k");
      options.alg_temp = o.number("alg_temp").value_or(0);
      options.eps = o.number("eps").value_or(1e-3);
      options.mask_token = integer("mask_token_id");
      options.seed = seed;
      return std::make_unique<decode::DreamMachine>(run.prompt, options);
    }
    default: {
      decode::AutoregressiveOptions options;
      options.max_new_tokens = integer("max_new_tokens");
      options.temperature = temperature;
      options.top_k = o.integer("top_k");
      options.top_p = o.number("top_p");
      options.repetition_penalty = o.number("repetition_penalty").value_or(1);
      options.eos_tokens = run.options.at("eos_token_ids").get<std::vector<std::int32_t>>();
      options.seed = seed;
      return std::make_unique<decode::AutoregressiveMachine>(run.prompt, options, model.new_cache());
    }
  }
}

}  // namespace buoy::testing
