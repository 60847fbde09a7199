#include "buoy/app/commands/file_kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "buoy/app/commands/inspect_files.h"
#include "buoy/app/commands/inspect_trace.h"
#include "buoy/app/commands/inspection_sheet.h"
#include "buoy/base/error.h"
#include "buoy/base/file/files.h"

namespace buoy::app {
namespace {

namespace fs = std::filesystem;
using F = const Inspected&;
using C = const InspectCall&;

fs::path folder_of(F f) {
  return fs::absolute(f.path).lexically_normal().parent_path();
}

bool is_safetensors(F f) {
  return f.named(".safetensors") ||
         (f.bytes > 8 && f.head.size() > 9 && f.head[8] == '{' && f.says("data_offsets"));
}

bool is_json(F f) {
  const std::size_t at = f.head.find_first_not_of(" \t\r\n");
  return at != std::string::npos && f.head[at] == '{';
}

bool is_part_of_model(F f) {
  constexpr std::array kNames = {"generation_config.json",
                                 "tokenizer_config.json",
                                 "special_tokens_map.json",
                                 "added_tokens.json",
                                 "vocab.json",
                                 "merges.txt",
                                 "chat_template.jinja"};
  return std::any_of(kNames.begin(), kNames.end(), [&](const char* name) { return f.name() == name; });
}

constexpr std::array kKinds = {
    // Folders.
    FileKind{"trace", "manifest.json of format buoy-trace", [](F f) { return f.folder && is_trace(f.path); },
             [](F f, C call) { inspect_trace(f.path, call.json); }},
    FileKind{"run of buoy eval", "run.json of format buoy evaluation",
             [](F f) { return f.folder && is_evaluation(f.path); },
             [](F f, C call) { inspect_evaluation(f.path, call.json); }},
    FileKind{"samples of a trace", "the folder samples in a trace",
             [](F f) { return f.folder && f.name() == "samples" && is_trace(folder_of(f)); },
             [](F f, C call) { inspect_trace(folder_of(f), call.json); }},
    FileKind{"model", "config.json, a tokenizer or safetensors files",
             [](F f) { return f.folder && holds_model(f.path); },
             [](F f, C call) { inspect_model(f.path, call); }},
    FileKind{"study", "the folders traces, evaluate and report of buoy study",
             [](F f) { return f.folder && (f.holds("traces") || f.holds("evaluate")) && f.holds("report"); },
             [](F f, C call) { inspect_parts(f.path, "results of buoy study", call.json); }},
    FileKind{"report", "report.html with tables and figures",
             [](F f) { return f.folder && f.holds("report.html"); },
             [](F f, C call) { inspect_parts(f.path, "report", call.json); }},
    FileKind{"results", "the folders tables and figures of buoy analyze",
             [](F f) { return f.folder && (f.holds("tables") || f.holds("figures")); },
             [](F f, C call) { inspect_parts(f.path, "results of buoy analyze", call.json); }},
    FileKind{"exported samples", "files NAME.npz",
             [](F f) { return f.folder && holds_ending(f.path, ".npz"); },
             [](F f, C call) { inspect_parts(f.path, "exported samples", call.json); }},
    // Files.
    FileKind{"part of a trace", "manifest.json or samples.jsonl in a trace",
             [](F f) {
               return (f.name() == "manifest.json" || f.name() == "samples.jsonl") && is_trace(folder_of(f));
             },
             [](F f, C call) { inspect_trace(folder_of(f), call.json); }},
    FileKind{"sample of a trace", "safetensors of format buoy-trace-sample",
             [](F f) { return !f.folder && is_safetensors(f) && f.says("buoy-trace-sample"); },
             [](F f, C call) { inspect_sample(f.path, call.json); }},
    FileKind{"weights", "safetensors", [](F f) { return !f.folder && is_safetensors(f); },
             [](F f, C call) { inspect_weights(f.path, call.json); }},
    FileKind{"index of weights", "NAME.safetensors.index.json",
             [](F f) { return !f.folder && f.named(".safetensors.index.json"); },
             [](F f, C call) { inspect_shard_index(f.path, call.json); }},
    FileKind{"configuration of a model", "config.json", [](F f) { return f.name() == "config.json"; },
             [](F f, C call) { inspect_config(f.path, call.json); }},
    FileKind{"tokenizer", "tokenizer.json", [](F f) { return f.name() == "tokenizer.json"; },
             [](F f, C call) { inspect_tokenizer(f.path, call.json); }},
    FileKind{"part of a model", "generation_config.json, vocab.json, chat_template.jinja and the like",
             is_part_of_model, [](F f, C call) { inspect_part(f.path, "part of a model", call.json); }},
    FileKind{"part of a run of buoy eval", "run.json, answers.jsonl or answers.partial.jsonl in its folder",
             [](F f) {
               return (f.name() == "run.json" || f.name().starts_with("answers.")) &&
                      is_evaluation(folder_of(f));
             },
             [](F f, C call) { inspect_evaluation(folder_of(f), call.json); }},
    FileKind{"answers of buoy eval", "answers.jsonl without its folder",
             [](F f) { return f.name() == "answers.jsonl" && f.says("\"condition\""); },
             [](F f, C call) { inspect_answers(f.path, call.json); }},
    FileKind{"table",
             "JSON with name, title, columns and rows; the CSV beside it; summary.json and summary.csv",
             [](F f) { return !f.folder && is_table(f); }, [](F f, C call) { inspect_table(f, call.json); }},
    FileKind{"report page", "HTML made by Buoy",
             [](F f) { return !f.folder && f.named(".html") && f.says("Made by Buoy"); },
             [](F f, C call) { inspect_part(f.path, "report page; open it in a browser", call.json); }},
    FileKind{"index of passages", "SQLite database", [](F f) { return f.begins("SQLite format 3"); },
             [](F f, C call) { inspect_passages(f.path, call.json); }},
    FileKind{"arrays for numpy", "NAME.npz", [](F f) { return f.named(".npz"); },
             [](F f, C call) { inspect_npz(f.path, call.json); }},
    FileKind{"study", "NAME.toml", [](F f) { return !f.folder && f.named(".toml"); },
             [](F f, C call) { inspect_study(f.path, call.json); }},
    FileKind{"prompt template", "NAME.prompt, or text with {{question}}",
             [](F f) { return !f.folder && (f.named(".prompt") || (!is_json(f) && f.says("{{question}}"))); },
             [](F f, C call) { inspect_prompt(f.path, call.json); }},
    FileKind{"questions", "JSON Lines (NAME.jsonl, NAME.jsonl.gz)",
             [](F f) {
               return !f.folder &&
                      (f.named(".jsonl") || f.named(".jsonl.gz") || f.named(".json.gz") || is_json(f));
             },
             [](F f, C call) { inspect_questions(f.path, call); }},
};

}  // namespace

Inspected::Inspected(const fs::path& where) : path(where) {
  if (!path_exists(path)) throw_input_error({path.string(), "a file or a folder", "nothing of that name"});
  folder = is_folder(path);
  if (folder) return;
  head = read_head(path);
  std::error_code failure;
  bytes = fs::file_size(path, failure);
  if (failure) throw_io_error("inspect", path.string(), failure.value());
}

std::string Inspected::name() const {
  return fs::absolute(path / "").lexically_normal().parent_path().filename().string();
}

bool Inspected::named(std::string_view ending) const {
  return name().ends_with(ending);
}

bool Inspected::begins(std::string_view start) const {
  return std::string_view(head).starts_with(start);
}

bool Inspected::holds(const std::string& entry) const {
  return path_exists(path / entry);
}

bool Inspected::says(std::string_view text) const {
  return head.find(text) != std::string::npos;
}

std::span<const FileKind> file_kinds() {
  return kKinds;
}

void inspect(const Inspected& inspected, const InspectCall& call) {
  for (const auto& kind : kKinds) {
    if (kind.fits(inspected)) return kind.print(inspected, call);
  }
  for (const auto& kind : foreign_kinds()) {
    if (kind.fits(inspected) && !inspected.folder)
      throw_input_error({inspected.path.string(), "a file that Buoy reads or writes",
                         fmt::format("{}: {}", kind.name, kind.advice)});
  }
  throw_input_error({inspected.path.string(),
                     "a folder that Buoy reads or writes: a model, a trace, a run of buoy eval, a report",
                     describe_folder(inspected.path)});
}

}  // namespace buoy::app
