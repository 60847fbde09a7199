#include "experiment/identity.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/json_file.h"
#include "base/mapped_file.h"
#include "base/sha256.h"
#include "base/version.h"
#include "experiment/changes.h"
#include "tensor/thread_pool.h"
#include "trace/reader.h"

namespace buoy::experiment {
namespace {

namespace fs = std::filesystem;

// Names, shapes and places of all tensors: the index of a sharded checkpoint, else the header of its one
// file.
std::string layout_sum(const fs::path& folder) {
  const auto index = folder / "model.safetensors.index.json";
  if (path_exists(index)) return sha256_of_file(index);
  const MappedFile file(folder / "model.safetensors");
  const auto bytes = file.bytes();
  std::uint64_t header = 0;
  for (int i = 7; i >= 0; --i)
    header = header << 8 | std::to_integer<std::uint64_t>(bytes[static_cast<size_t>(i)]);
  return sha256_hex(bytes.subspan(8, static_cast<size_t>(header)));
}

std::optional<std::string> tokenizer_sum(const fs::path& folder) {
  for (const char* name : {"tokenizer.json", "vocab.json"}) {
    if (path_exists(folder / name)) return sha256_of_file(folder / name);
  }
  return std::nullopt;
}

// The layout, and pieces from all over the weights: a model of the same shape that was trained further has
// others. All of them would take minutes to read.
std::string weights_sum(const fs::path& folder) {
  constexpr std::uint64_t kPieces = 64, kPiece = 1 << 14;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".safetensors") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::string sums = layout_sum(folder) + "\n";
  for (const auto& path : files) {
    const MappedFile file(path);
    const auto bytes = file.bytes();
    std::vector<std::byte> pieces;
    for (std::uint64_t i = 0; i < kPieces; ++i) {
      const std::uint64_t at = bytes.size() / kPieces * i,
                          length = std::min<std::uint64_t>(kPiece, bytes.size() - at);
      pieces.insert(pieces.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at),
                    bytes.begin() + static_cast<std::ptrdiff_t>(at + length));
    }
    sums += fmt::format("{} {} {}\n", path.filename().string(), bytes.size(), sha256_hex(pieces));
  }
  return sha256_hex(std::as_bytes(std::span(sums)));
}

std::string sum_if_there(const fs::path& file) {
  return path_exists(file) ? sha256_of_file(file) : "";
}

}  // namespace

std::string describe_machine() {
  utsname system{};
  ::uname(&system);
  return fmt::format("{} {}, {} threads", system.sysname, system.machine, available_threads());
}

Json describe_model_files(const fs::path& folder) {
  const Family family = read_config(folder).family;
  return {{"family", name_of(family)},
          {"masked_diffusion", is_masked_diffusion(family)},
          {"config_sha256", sha256_of_file(folder / "config.json")},
          {"weights_sha256", weights_sum(folder)},
          {"tokenizer_sha256", tokenizer_sum(folder).value_or("")},
          {"tokenizer_config_sha256", sum_if_there(folder / "tokenizer_config.json")},
          {"chat_template_sha256", sum_if_there(folder / "chat_template.jinja")}};
}

void require_trace_of(const fs::path& trace, const fs::path& model_folder) {
  const auto reader = trace::TraceReader::open(trace);
  const auto& traced = reader.manifest().model;
  if (const auto changes = changes_of(reader.manifest()); !changes.empty())
    throw_input_error(
        {trace.string(), "a trace of the model as it is", "one with changes: " + changes.front()});
  if (traced.weights_sha256 == weights_sum(model_folder)) return;
  throw_input_error({trace.string(), fmt::format("a trace of {}", model_folder.string()),
                     fmt::format("one of another model ({})", traced.name)});
}

Json describe_decoding(const DecodeOptions& o) {
  Json out = {{"max_new_tokens", o.max_new_tokens}, {"temperature", o.temperature}};
  const auto add = [&](const char* key, const auto& value) {
    if (value) out[key] = *value;
  };
  add("steps", o.steps);
  add("block_length", o.block_length);
  add("algorithm", o.algorithm);
  add("top_p", o.top_p);
  add("top_k", o.top_k);
  add("alg_temp", o.alg_temp);
  add("eps", o.eps);
  add("cfg_scale", o.cfg_scale);
  add("repetition_penalty", o.repetition_penalty);
  add("mask_token", o.mask_token);
  add("eot_token", o.eot_token);
  if (o.logits_eos_inf) out["logits_eos_inf"] = true;
  if (o.confidence_eos_eot_inf) out["confidence_eos_eot_inf"] = true;
  if (!o.eos_tokens.empty()) out["eos_tokens"] = o.eos_tokens;
  return out;
}

trace::Manifest describe_run(const model::Model& model, const DecodeOptions& decoding,
                             const std::string& command) {
  const ModelConfig& c = model.config();
  const fs::path& folder = model.checkpoint().folder();
  trace::Manifest manifest;
  manifest.created_by = fmt::format("buoy {}", version());
  manifest.command = command;
  manifest.machine = describe_machine();
  manifest.model = {.name = fs::absolute(folder).lexically_normal().filename().string(),
                    .family = std::string(name_of(c.family)),
                    .architecture = c.architecture,
                    .stored_dtype = model.checkpoint().stored_types(),
                    .layers = c.layers,
                    .heads = c.heads,
                    .kv_heads = c.kv_heads,
                    .head_dim = c.head_dim,
                    .hidden = c.hidden,
                    .vocabulary = c.vocabulary,
                    .config_sha256 = sha256_of_file(folder / "config.json"),
                    .weights_sha256 = weights_sum(folder)};
  manifest.tokenizer_sha256 = tokenizer_sum(folder);
  manifest.decoding = describe_decoding(decoding).dump();
  manifest.seed = decoding.seed;
  return manifest;
}

}  // namespace buoy::experiment
