#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include "buoy/app/commands/commands.h"
#include "buoy/app/commands/file_kinds.h"
#include "buoy/app/options/data_options.h"
#include "buoy/app/options/model_folder.h"
#include "buoy/app/options/shared_options.h"
#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"
#include "buoy/base/progress.h"
#include "buoy/checkpoint/hub_cache.h"
#include "buoy/decode/decoding_rule.h"
#include "buoy/model/family_table.h"
#include "buoy/model/memory.h"
#include "buoy/study/memory_line.h"
#include "buoy/text/chat/chat_template.h"

namespace buoy::app {
namespace {

std::string router_in_words(const ExpertConfig& e) {
  if (e.router == RouterType::kSigmoidGroups) {
    return fmt::format("sigmoid, {} of {} groups, weights over their sum times {}{}", e.kept_groups, e.groups,
                       e.scale, e.bias ? ", a bias that steers the choice alone" : "");
  }
  return fmt::format("softmax, weights {}{}", e.renormalise ? "over their sum" : "as they are",
                     e.bias ? ", a bias that stays in them" : "");
}

std::string experts_in_words(const Json& experts, const Json& active) {
  std::string text = fmt::format("{} of {} for each token, width {}", experts["chosen"].dump(),
                                 experts["count"].dump(), experts["width"].dump());
  if (experts["shared_width"] != 0)
    text += fmt::format(", a shared one of width {}", experts["shared_width"].dump());
  if (experts["dense_layers"] != 0)
    text += fmt::format(", {} layer{} without", experts["dense_layers"].dump(),
                        experts["dense_layers"] == 1 ? "" : "s");
  return text + fmt::format("; a token meets {} parameters", active.dump());
}

struct Problem {
  const char* label;  // "missing", "not supported", "wrong"
  std::string text;
};

struct Finding {
  Json facts = Json::object();
  std::vector<Problem> problems;

  void add(const char* label, std::string text) { problems.push_back({label, std::move(text)}); }

  // Notes a failure and goes on: inspecting is for folders that are not right yet.
  void attempt(const char* label, const std::function<void()>& look) {
    try {
      look();
    } catch (const Error& error) {
      add(label, error.what());
    }
  }
};

void describe_experts(const ModelConfig& c, Json& facts) {
  const ExpertConfig& e = *c.experts;
  Json& out = facts["experts"];
  out = {{"count", e.count}, {"chosen", e.chosen}, {"width", e.width}, {"shared_width", e.shared_width}};
  out["router"] = router_in_words(e);
  out["dense_layers"] = std::count(e.dense.begin(), e.dense.end(), true);
  facts["active_parameters"] = model::active_parameters_of(c);
}

// Without the marks of code of a page.
std::string without_marks(std::string_view text) {
  std::string out(text);
  std::erase(out, '`');
  return out;
}

void describe_config(const ModelConfig& c, Json& facts) {
  facts["family"] = name_of(c.family);
  facts["architecture"] = c.architecture;
  facts["decoding"] = is_masked_diffusion(c.family) ? "masked diffusion" : "autoregressive";
  facts["attention_mask"] = name_of(mask_of(c));
  if (c.block_length) facts["block_length"] = *c.block_length;
  if (c.block_length) facts["states_block_length"] = c.states_block_length;
  for (const auto& rule : decode::decoding_rules(c.family))
    if (may_decode_blocks(c.family)) facts["decoding_rules"].push_back(rule.name);
  if (const auto rule = decode::default_rule(c.family); rule && may_decode_blocks(c.family))
    facts["default_rule"] = *rule;
  if (const auto* known = model::facts_of(c.family)) {
    facts["compared_with"] = without_marks(known->compared);
    if (!known->approximation.empty()) facts["approximate"] = without_marks(known->approximation);
  }
  facts["layers"] = c.layers;
  facts["hidden"] = c.hidden;
  facts["heads"] = c.heads;
  facts["kv_heads"] = c.kv_heads;
  facts["head_dim"] = c.head_dim;
  facts["mlp_hidden"] = c.mlp_hidden;
  if (c.experts) describe_experts(c, facts);
  facts["vocabulary"] = c.vocabulary;
  facts["context"] = c.context;
  facts["tied_head"] = c.tied_head;
  facts["rope_theta"] = c.rope.theta;
  facts["rope_scaling"] = c.rope.scaling ? "llama3" : c.rope.yarn ? "yarn" : "none";
  if (c.mask_token) facts["mask_token"] = *c.mask_token;
  facts["eos_tokens"] = c.eos_tokens;
}

// What running it takes, against what the machine has. `stored` is 0 where the weights could not be read.
void describe_memory(const ModelConfig& config, std::uint64_t stored, Json& facts) {
  model::MemoryCase of{device_from_name("auto"), 0, stored};
  for (const std::int64_t tokens : {256, 1024, 4096}) {
    of.tokens = tokens;
    facts["memory"].push_back({{"tokens", tokens}, {"bytes", model::memory_need(config, of).all()}});
  }
  of.tokens = 1024;
  const auto machine = machine_memory(of.device);
  facts["machine"] = {{"memory", machine.name}, {"bytes", machine.total}, {"free_bytes", machine.free}};
  facts["memory_line"] = study::memory_line(config, of, machine);
}

// The tokenizer and the chat template. What is there and cannot be used is not missing.
void look_at_text(const std::filesystem::path& folder, const std::optional<ModelConfig>& config,
                  Finding& finding) {
  bool has_tokenizer = true;
  finding.attempt("not supported", [&] {
    has_tokenizer = run::has_tokenizer(folder);
    if (!has_tokenizer) return;
    const auto tokenizer = text::Tokenizer::load(folder);
    finding.facts["tokenizer_ids"] = tokenizer.id_limit();
    finding.facts["tokenizer_method"] = tokenizer.kind();
    if (config) run::check_vocabulary(tokenizer, *config, folder);
  });
  if (!has_tokenizer) {
    finding.add("missing",
                "no tokenizer.json (or vocab.json and merges.txt): text cannot be encoded, --ids works");
    return;
  }
  finding.attempt("not supported", [&] {
    const auto chat = text::ChatTemplate::find(folder);
    if (!chat) {
      finding.add("missing", "no chat template: --chat needs --chat-style; this may be a base model");
    } else if (const auto why = run::why_no_chat_template(folder)) {
      finding.add("not supported", *why + "; --chat needs --chat-style");
    } else {
      finding.facts["chat_template"] = chat->name();
    }
  });
}

Finding look_at(const std::filesystem::path& folder, bool check_weights) {
  Finding finding;
  if (const auto snapshot = hub_snapshot_of(folder)) {
    finding.facts["id"] = snapshot->id;
    finding.facts["commit"] = snapshot->commit;
  }
  std::optional<ModelConfig> config;
  finding.attempt("wrong", [&] {
    config = read_config(folder);
    describe_config(*config, finding.facts);
  });
  if (config) {
    finding.attempt("wrong", [&] {
      const model::Model model = model::Model::load(folder);
      const Checkpoint& checkpoint = model.checkpoint();
      finding.facts["parameters"] = checkpoint.parameters();
      finding.facts["tensors"] = checkpoint.tensor_names().size();
      finding.facts["stored_types"] = checkpoint.stored_types();
      finding.facts["weight_files"] = checkpoint.files().size();
      finding.facts["weights_bytes"] = checkpoint.weight_bytes();
      if (!check_weights) return;
      const std::string broken = checkpoint.find_non_finite();
      if (!broken.empty()) finding.add("wrong", fmt::format("{} holds a NaN or an infinity", broken));
    });
  }
  if (config) describe_memory(*config, finding.facts.value("weights_bytes", std::uint64_t{0}), finding.facts);
  look_at_text(folder, config, finding);
  return finding;
}

void print(const Finding& finding) {
  const Json& f = finding.facts;
  const auto line = [](const char* label, const std::string& value) {
    fmt::print("{:<12} {}\n", label, value);
  };
  if (f.contains("commit"))
    line("snapshot", fmt::format("{} of {}", f["commit"].get<std::string>(), f["id"].get<std::string>()));
  if (f.contains("family")) {
    line("family", fmt::format("{} ({}), {}, {} attention", f["family"].get<std::string>(),
                               f["architecture"].get<std::string>(), f["decoding"].get<std::string>(),
                               f["attention_mask"].get<std::string>()));
    line("shape", fmt::format("{} layers, width {}, {} heads of {} ({} for keys and values), MLP {}",
                              f["layers"].dump(), f["hidden"].dump(), f["heads"].dump(), f["head_dim"].dump(),
                              f["kv_heads"].dump(), f["mlp_hidden"].dump()));
    if (f.contains("experts")) {
      line("experts", experts_in_words(f["experts"], f["active_parameters"]));
      line("router", f["experts"]["router"].get<std::string>());
    }
    if (f.contains("block_length")) {
      line("blocks",
           fmt::format(
               "{} positions{}", f["block_length"].dump(),
               f["states_block_length"].get<bool>() ? "" : " (the config does not say: the publisher's)"));
    }
    if (f.contains("decoding_rules"))
      line("rule", fmt::format("{}: the config does not say, --decoding-rule does{}",
                               fmt::join(f["decoding_rules"].get<std::vector<std::string>>(), " or "),
                               f.contains("default_rule")
                                   ? fmt::format(" (default {})", f["default_rule"].get<std::string>())
                                   : ""));
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
  }
  if (f.contains("compared_with")) {
    line("compared",
         fmt::format(
             "with an independent implementation, on tiny random checkpoints ({}){}",
             f["compared_with"].get<std::string>(),
             f.contains("approximate") ? "; approximate: " + f["approximate"].get<std::string>() : ""));
  }
  if (f.contains("memory_line")) line("memory", f["memory_line"].get<std::string>());
  if (f.contains("tokenizer_ids"))
    line("tokenizer", fmt::format("{}, ids below {}", f["tokenizer_method"].get<std::string>(),
                                  f["tokenizer_ids"].dump()));
  if (f.contains("chat_template")) line("chat", f["chat_template"].get<std::string>());
  for (const auto& problem : finding.problems) line(problem.label, problem.text);
  if (finding.problems.empty()) line("missing", "nothing");
}

}  // namespace

static std::filesystem::path named_path(const std::string& path) {
  const bool looks_like_id = path.find('/') != std::string::npos || path.find('@') != std::string::npos;
  if (!path_exists(path)) return looks_like_id ? find_model(path) : std::filesystem::path(path);
  return is_folder(path) ? find_model(path) : std::filesystem::path(path);
}

void inspect_model(const std::filesystem::path& folder, const InspectCall& call) {
  const Finding finding = look_at(folder, call.check_weights);
  if (call.json) {
    Json out = finding.facts;
    out["kind"] = "model";
    out["problems"] = Json::array();
    for (const auto& problem : finding.problems)
      out["problems"].push_back(fmt::format("{}: {}", problem.label, problem.text));
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
  command->examples({{"buoy inspect models/natural-diffusion", "a model"},
                     {"buoy inspect questions.jsonl", "a file of questions"},
                     {"buoy inspect traces/diffusion", "a trace"}});
  const auto fields = add_field_option(*command);
  command->callback([options, fields] {
    options->call.fields = parse_fields(*fields);
    // What is no file may be a model by its id; the folder of a model in a cache is that model.
    inspect(Inspected(named_path(options->path)), options->call);
  });
}

}  // namespace buoy::app
