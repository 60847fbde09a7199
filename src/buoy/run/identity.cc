#include "buoy/run/identity.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <optional>

#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"
#include "buoy/base/sha256.h"
#include "buoy/base/utf8.h"
#include "buoy/base/version.h"
#include "buoy/checkpoint/hub_cache.h"
#include "buoy/checkpoint/weights_identity.h"
#include "buoy/run/change/changes.h"
#include "buoy/tensor/thread_pool.h"
#include "buoy/trace/reader.h"

namespace buoy::run {
namespace {

namespace fs = std::filesystem;

std::optional<std::string> tokenizer_sum(const fs::path& folder) {
  for (const char* name : {"tokenizer.json", "vocab.json"}) {
    if (path_exists(folder / name)) return sha256_of_file(folder / name);
  }
  return std::nullopt;
}

std::string sum_if_there(const fs::path& file) {
  return path_exists(file) ? sha256_of_file(file) : "";
}

template <typename Value>
const Value& plain(const Value& value) {
  return value;
}
template <typename Value>
const Value& plain(const std::optional<Value>& value) {
  return *value;
}

}  // namespace

std::string describe_machine() {
  utsname system{};
  ::uname(&system);
  return fmt::format("{} {}, {} threads", system.sysname, system.machine, available_threads());
}

Json describe_model_files(const fs::path& folder) {
  const Checkpoint checkpoint = Checkpoint::open(folder);
  const Family family = checkpoint.config().family;
  Json out = {{"family", name_of(family)},
              {"masked_diffusion", is_masked_diffusion(family)},
              {"config_sha256", sha256_of_file(folder / "config.json")},
              {"weights_sha256", weights_identity(checkpoint)},
              {"tokenizer_sha256", tokenizer_sum(folder).value_or("")},
              {"tokenizer_config_sha256", sum_if_there(folder / "tokenizer_config.json")},
              {"chat_template_sha256", sum_if_there(folder / "chat_template.jinja")}};
  if (const auto snapshot = hub_snapshot_of(folder)) out["commit"] = snapshot->commit;
  return out;
}

void require_trace_of(const fs::path& trace, const fs::path& model_folder) {
  const auto reader = trace::TraceReader::open(trace);
  const auto& traced = reader.manifest().model;
  if (const auto changes = changes_of(reader.manifest()); !changes.empty())
    throw_input_error(
        {trace.string(), "a trace of the model as it is", "one with changes: " + changes.front()});
  const Checkpoint checkpoint = Checkpoint::open(model_folder);
  const ModelConfig& c = checkpoint.config();
  // A manifest may claim any sum; what is indexed by layer and head must fit the model itself.
  const bool same_sizes = traced.layers == c.layers && traced.heads == c.heads &&
                          traced.kv_heads == c.kv_heads && traced.head_dim == c.head_dim &&
                          traced.vocabulary == c.vocabulary;
  if (same_sizes && traced.weights_sha256 == weights_identity(checkpoint)) return;
  throw_input_error({trace.string(), fmt::format("a trace of {}", model_folder.string()),
                     fmt::format("one of another model ({})", traced.name)});
}

Json describe_decoding(const DecodeOptions& options) {
  Json out;
  for (const auto& option : decode::kDecodeOptions) {
    if (option.identity == decode::Identity::kApart || !decode::is_given(option, options)) continue;
    std::visit([&](const auto member) { out[std::string(option.key)] = plain(options.*member); },
               option.field);
  }
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
  const auto snapshot = hub_snapshot_of(folder);
  manifest.model = {.name = replace_invalid_utf8(model_name(folder)),
                    .family = std::string(name_of(c.family)),
                    .architecture = c.architecture,
                    .stored_dtype = model.checkpoint().stored_types(),
                    .layers = c.layers,
                    .heads = c.heads,
                    .kv_heads = c.kv_heads,
                    .head_dim = c.head_dim,
                    .hidden = c.hidden,
                    .vocabulary = c.vocabulary,
                    .commit = snapshot ? snapshot->commit : "",
                    .config_sha256 = sha256_of_file(folder / "config.json"),
                    .weights_sha256 = weights_identity(model.checkpoint())};
  manifest.tokenizer_sha256 = tokenizer_sum(folder);
  manifest.decoding = dump_json(describe_decoding(decoding));
  manifest.seed = decoding.seed;
  return manifest;
}

}  // namespace buoy::run
