#include "buoy/study/merged_run.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <exception>
#include <map>
#include <set>
#include <system_error>

#include "buoy/analysis/core/kept.h"
#include "buoy/base/counted.h"
#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"
#include "buoy/base/say.h"
#include "buoy/report/result_files.h"
#include "buoy/run/answer_file.h"
#include "buoy/run/identity.h"
#include "buoy/run/parts/answer_parts.h"
#include "buoy/study/analysed_traces.h"
#include "buoy/study/evaluation_runner.h"
#include "buoy/trace/folder.h"
#include "buoy/trace/index.h"
#include "buoy/trace/parts/parts.h"

namespace buoy::study {
namespace {

namespace fs = std::filesystem;

bool is_whole_trace(const fs::path& out) {
  if (!path_exists(trace::manifest_path(out))) return false;
  const Json manifest = read_json_file(trace::manifest_path(out));
  return manifest.is_object() && manifest.value("complete", false);
}

// Those that are missing, by the shard that was to take them, and what runs each. Claims that say otherwise
// are of parts that are gone.
[[noreturn]] void refuse_missing(const fs::path& out, const shard::RunFacts& facts, const char* what,
                                 std::size_t planned, const std::vector<std::size_t>& missing) {
  constexpr std::size_t kMostNamed = 20;
  const auto file = shard::shards_folder(out) / "deal.json";
  std::map<int, std::size_t> of_shard;
  if (path_exists(file)) {
    const Json deal = read_json_file(file);
    const Json& of = deal.at("shard_of");
    for (const auto n : missing) {
      if (n < of.size()) ++of_shard[of.at(n).get<int>()];
      for (const char* end : {"done", "1"})
        if (facts.steal) fs::remove(shard::claims_folder(out) / fmt::format("{}.{}", n, end));
    }
  }
  std::string text;
  std::size_t named = 0;
  for (const auto& [shard, count] : of_shard) {
    if (named++ == kMostNamed) {
      text += fmt::format("\n  and {} more", of_shard.size() - kMostNamed);
      break;
    }
    text += fmt::format("\n  shard {} of {} ({} missing): {}", shard, facts.shards, count,
                        shard::command_of_part(facts, shard));
  }
  throw InputError(fmt::format("{}: expected {} in its parts, found {}; run again, then merge:{}",
                               out.string(), counted(planned, what), planned - missing.size(), text));
}

void require_all_samples(const fs::path& out, const shard::RunFacts& facts) {
  const auto index = trace::read_index(out);
  std::set<std::string> there;
  for (const auto& entry : index.entries) there.insert(entry.id);
  std::vector<std::size_t> missing;
  for (std::size_t n = 0; n < index.manifest.sample_ids.size(); ++n) {
    if (!there.contains(index.manifest.sample_ids[n])) missing.push_back(n);
  }
  if (!missing.empty()) refuse_missing(out, facts, "sample", index.manifest.sample_ids.size(), missing);
}

// The tables that the run would have made while the model ran; its folder is read as an unfinished trace.
void write_watched(const fs::path& out, const shard::RunFacts& facts) {
  const auto file = shard::shards_folder(out) / "analyses.json";
  const Json json = read_json_file(file);
  analysis::RunOptions options;
  trace::KeptAnalyses kept{json.at("names").get<std::vector<std::string>>(),
                           json.at("settings").get<std::map<std::string, double>>()};
  std::set<std::string> settings;
  for (const auto& [name, value] : kept.settings) settings.insert(name);
  analysis::take_settings(kept, settings, options.analysis);
  options.analysis.bootstrap.replicates = facts.resamples;
  options.analysis.bootstrap.seed = facts.seed;
  const auto name = trace::read_index(out).manifest.model.name;
  write_analyses(run_with_progress(kept.names, {{out, name}}, options), out);
}

void merge_trace(const fs::path& out, const shard::RunFacts& facts) {
  try {
    require_all_samples(out, facts);
    if (facts.kind == "watch") write_watched(out, facts);
    trace::merge_parts(out);
  } catch (const trace::AnotherRun& other) {
    throw other.called(run::asked_as(other.field()));
  }
  const auto index = trace::read_index(out);
  const auto failed = std::count_if(index.entries.begin(), index.entries.end(),
                                    [](const auto& entry) { return entry.status == trace::Status::kFailed; });
  fmt::print("{}: {} of {} joined{}\n", out.string(), counted(index.entries.size(), "sample"),
             counted(static_cast<std::size_t>(facts.shards), "shard"),
             failed > 0 ? fmt::format(", {} failed (listed in manifest.json)", failed) : "");
}

void require_a_sample(const fs::path& out) {
  const auto index = trace::read_index(out);
  const bool none = std::all_of(index.entries.begin(), index.entries.end(),
                                [](const auto& entry) { return entry.status == trace::Status::kFailed; });
  if (none && !index.entries.empty())
    throw InputError(fmt::format("{}: every sample failed, the first with: {}", out.string(),
                                 index.entries.front().error));
}

void merge_evaluation(const fs::path& out, const shard::RunFacts& facts) {
  const auto parts = run::AnswerParts::open(out);
  if (!parts.missing().empty()) refuse_missing(out, facts, "answer", parts.planned(), parts.missing());
  if (const auto& differing = parts.differing(); differing.answers > 0) {
    say("note: {}: {} in two parts that packed other questions with them on a GPU, {} with another text; "
        "those of the first part are taken\n",
        out.string(), counted(differing.answers, "answer"), differing.texts);
  }
  summarise_run({out, facts.resamples, facts.seed, &parts}, [&] { parts.write(out); });
}

void merge_study(const fs::path& out) {
  std::vector<fs::path> parts;
  for (const char* kind : {"traces", "evaluate"}) {
    std::error_code failure;
    for (fs::directory_iterator at(out / kind, failure), end; !failure && at != end; at.increment(failure)) {
      if (shard::read_facts(at->path())) parts.push_back(at->path());
    }
  }
  std::sort(parts.begin(), parts.end());
  // Others are joined behind one that cannot be.
  std::exception_ptr refused;
  for (const auto& part : parts) {
    try {
      merge_run(part);
    } catch (const InputError&) {
      if (!refused) refused = std::current_exception();
    }
  }
  if (refused) std::rethrow_exception(refused);
}

}  // namespace

bool is_merged(const fs::path& out, const shard::RunFacts& facts) {
  if (facts.kind == "study") return false;
  return facts.kind == "eval" ? path_exists(out / run::kAnswersFile) : is_whole_trace(out);
}

void merge_run(const fs::path& out) {
  const auto facts = shard::read_facts(out);
  if (!facts)
    throw_input_error(
        {out.string(), "a run in parts (shards/shards.json)",
         is_whole_trace(out) || path_exists(out / run::kAnswersFile) ? "one in one part" : "none"});
  if (is_merged(out, *facts)) {
    fmt::print("{}: {} joined before\n", out.string(),
               counted(static_cast<std::size_t>(facts->shards), "shard"));
    if (facts->kind != "eval") require_a_sample(out);
    return;
  }
  if (facts->kind == "study") return merge_study(out);
  const bool begun = path_exists(facts->kind == "eval" ? out / "run.json" : trace::manifest_path(out));
  if (!begun) throw_input_error({out.string(), "parts of a run", "none that got as far as its plan"});
  // What a join that was killed left.
  trace::remove_partial_files(out);
  if (path_exists(out / "samples")) trace::remove_partial_files(out / "samples");
  if (facts->kind == "eval") return merge_evaluation(out, *facts);
  merge_trace(out, *facts);
  require_a_sample(out);
}

void write_analyses(const analysis::RunResult& result, const fs::path& out) {
  std::size_t tables = 0, figures = 0;
  std::vector<report::AnalysedTables> all;
  for (const auto& [name, of_analysis] : result.analyses) {
    const auto& producer = analysis::find_analysis(name).producer;
    all.push_back({std::string(producer.name), std::string(producer.title), of_analysis});
  }
  for (const auto& written : report::write_results(std::span<const report::AnalysedTables>(all), out)) {
    for (const auto& omission : written.left_out) say("note: {}\n", omission);
    tables += written.tables;
    figures += written.figures;
  }
  fmt::print("{}: {}, {}\n", out.string(), counted(tables, "table"), counted(figures, "figure"));
}

}  // namespace buoy::study
