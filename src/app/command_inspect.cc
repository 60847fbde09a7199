#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include "app/commands.h"
#include "app/data_options.h"
#include "app/file_kinds.h"
#include "app/model_folder.h"
#include "app/shared_options.h"
#include "base/error.h"
#include "base/files.h"
#include "base/json_file.h"
#include "base/progress.h"
#include "model/memory.h"
#include "text/chat_detection.h"

namespace buoy::app {
namespace {

struct Finding {
  Json facts = Json::object();
  std::vector<std::string> problems;

  // Notes a failure and goes on: inspecting is for folders that are not right yet.
  void attempt(const std::function<void()>& look) {
    try {
      look();
    } catch (const Error& error) {
      problems.emplace_back(error.what());
    }
  }
};

void describe_config(const ModelConfig& c, Json& facts) {
  facts["family"] = name_of(c.family);
  facts["architecture"] = c.architecture;
  facts["decoding"] = is_masked_diffusion(c.family) ? "masked diffusion" : "autoregressive";
  facts["layers"] = c.layers;
  facts["hidden"] = c.hidden;
  facts["heads"] = c.heads;
  facts["kv_heads"] = c.kv_heads;
  facts["head_dim"] = c.head_dim;
  facts["mlp_hidden"] = c.mlp_hidden;
  facts["vocabulary"] = c.vocabulary;
  facts["context"] = c.context;
  facts["tied_head"] = c.tied_head;
  facts["rope_theta"] = c.rope.theta;
  facts["rope_scaling"] = c.rope.scaling ? "llama3" : "none";
  if (c.mask_token) facts["mask_token"] = *c.mask_token;
  facts["eos_tokens"] = c.eos_tokens;
}

void describe_memory(const model::Model& model, Json& facts) {
  const auto weights = model.checkpoint().weight_bytes();
  facts["weights_bytes"] = weights;
  for (const std::int64_t tokens : {256, 1024, 4096}) {
    facts["memory"].push_back(
        {{"tokens", tokens}, {"bytes", weights + model::workspace_bytes(model.config(), tokens)}});
  }
}

Finding look_at(const std::filesystem::path& folder, bool check_weights) {
  Finding finding;
  std::optional<ModelConfig> config;
  finding.attempt([&] {
    config = read_config(folder);
    describe_config(*config, finding.facts);
  });
  if (config) {
    finding.attempt([&] {
      const model::Model model = model::Model::load(folder);
      const Checkpoint& checkpoint = model.checkpoint();
      finding.facts["parameters"] = checkpoint.parameters();
      finding.facts["tensors"] = checkpoint.tensor_names().size();
      finding.facts["stored_types"] = checkpoint.stored_types();
      finding.facts["weight_files"] = checkpoint.files().size();
      describe_memory(model, finding.facts);
      if (!check_weights) return;
      const std::string broken = checkpoint.find_non_finite();
      if (!broken.empty()) finding.problems.push_back(fmt::format("{} holds a NaN or an infinity", broken));
    });
  }
  if (!experiment::has_tokenizer(folder)) {
    finding.problems.push_back(
        "no tokenizer.json (or vocab.json and merges.txt): text cannot be encoded, --ids works");
    return finding;
  }
  finding.attempt([&] {
    const auto tokenizer = text::Tokenizer::load(folder);
    finding.facts["tokenizer_ids"] = tokenizer.id_limit();
    if (config) experiment::check_vocabulary(tokenizer, *config, folder);
  });
  finding.attempt(
      [&] { finding.facts["chat_style"] = text::chat_style_name(text::detect_chat_style(folder)); });
  return finding;
}

void print(const Finding& finding) {
  const Json& f = finding.facts;
  const auto line = [](const char* label, const std::string& value) {
    fmt::print("{:<12} {}\n", label, value);
  };
  if (f.contains("family")) {
    line("family", fmt::format("{} ({}), {}", f["family"].get<std::string>(),
                               f["architecture"].get<std::string>(), f["decoding"].get<std::string>()));
    line("shape", fmt::format("{} layers, width {}, {} heads of {} ({} for keys and values), MLP {}",
                              f["layers"].dump(), f["hidden"].dump(), f["heads"].dump(), f["head_dim"].dump(),
                              f["kv_heads"].dump(), f["mlp_hidden"].dump()));
    line("vocabulary", fmt::format("{} rows, head {}", f["vocabulary"].dump(),
                                   f["tied_head"].get<bool>() ? "tied" : "untied"));
    line("context", fmt::format("{} tokens, rope theta {}, scaling {}", f["context"].dump(),
                                f["rope_theta"].dump(), f["rope_scaling"].get<std::string>()));
    std::string special = fmt::format("end {}", f["eos_tokens"].dump());
    if (f.contains("mask_token")) special = fmt::format("mask {}, {}", f["mask_token"].dump(), special);
    line("tokens", special);
  }
  if (f.contains("parameters")) {
    line("weights", fmt::format("{} parameters in {} tensors, {}, {} in {} file{}", f["parameters"].dump(),
                                f["tensors"].dump(), f["stored_types"].get<std::string>(),
                                describe_bytes(f["weights_bytes"]), f["weight_files"].dump(),
                                f["weight_files"] == 1 ? "" : "s"));
    std::string memory;
    for (const Json& need : f["memory"]) {
      memory += fmt::format("{}{} at {} tokens", memory.empty() ? "" : ", ", describe_bytes(need["bytes"]),
                            need["tokens"].dump());
    }
    line("memory", memory);
  }
  if (f.contains("tokenizer_ids")) line("tokenizer", fmt::format("ids below {}", f["tokenizer_ids"].dump()));
  if (f.contains("chat_style")) line("chat", f["chat_style"].get<std::string>());
  for (const auto& problem : finding.problems) line("missing", problem);
  if (finding.problems.empty()) line("missing", "nothing");
}

}  // namespace

void inspect_model(const std::filesystem::path& folder, const InspectCall& call) {
  const Finding finding = look_at(folder, call.check_weights);
  if (call.json) {
    Json out = finding.facts;
    out["kind"] = "model";
    out["problems"] = finding.problems;
    fmt::print("{}\n", dump_json(out, 2));
  } else {
    print(finding);
  }
  if (!finding.facts.contains("parameters"))
    throw InputError(folder.string() + ": the model cannot run; see above");
}

void add_inspect(Command& app) {
  auto* command =
      app.add_subcommand("inspect", "what a file or folder is, what it holds, and what is wrong with it");
  struct Options {
    std::string path;
    InspectCall call;
  };
  auto options = std::make_shared<Options>();
  command->add_option("path", options->path, "a file or a folder: see below")->required()->type_name("PATH");
  add_json_flag(*command, options->call.json);
  command->add_flag("--check-weights", options->call.check_weights,
                    "read every weight of a model and look for NaN and infinity");
  std::string footer =
      "Of a model: family, sizes, memory it needs to run, tokenizer, chat template, and everything that is "
      "wrong\n"
      "or missing. Of a trace: whether it is complete, under way or stopped, and whether every file is "
      "whole.\n"
      "Exits with 3 when the model cannot run, when a file is damaged, and when it is of a kind Buoy does "
      "not\n"
      "read, which is then named. What is recognised:\n";
  for (const auto& kind : file_kinds()) footer += fmt::format("  {:<26} {}\n", kind.name, kind.sign);
  command->footer(footer);
  command->examples({{"buoy inspect models/pair-diffusion", "a model"},
                     {"buoy inspect questions.jsonl", "a file of questions"},
                     {"buoy inspect traces/diffusion", "a trace"}});
  const auto fields = add_field_option(*command);
  command->callback([options, fields] {
    options->call.fields = parse_fields(*fields);
    inspect(Inspected(options->path), options->call);
  });
}

}  // namespace buoy::app
