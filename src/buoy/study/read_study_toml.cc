#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "buoy/base/nearest.h"
#include "buoy/study/checked_table_toml.h"
#include "buoy/study/design/controls.h"
#include "buoy/study/guard_toml.h"
#include "buoy/study/read_models_toml.h"
#include "buoy/study/study.h"

namespace buoy::study {
namespace {

constexpr std::uint32_t kMostQuestions = 10'000'000;  // that a world is asked for
constexpr std::uint32_t kDefaultQuestions = 100;
constexpr std::int64_t kMostPredictedTokens = 1'000;
constexpr std::int64_t kMostControls = 1'000;  // draws of random heads
constexpr std::uint32_t kMostSeeds = 100;      // of untrained networks
constexpr std::size_t kLongestDescription = 300;
constexpr std::int64_t kMostExpectedPassages = 250, kMostExpectedTokens = 1 << 20;

template <typename T>
void take(T& target, const std::optional<T>& value) {
  if (value) target = *value;
}

PromptEntry read_prompt(const toml::table& prompt, const TomlSource& source) {
  CheckedTable table(prompt, source, "prompt");
  PromptEntry p;
  take(p.with_passages, table.text("with_passages"));
  take(p.closed_book, table.text("closed_book"));
  take(p.chat, table.text("chat"));
  if (p.chat != "auto" && p.chat != "always" && p.chat != "never")
    table.fail("chat", "auto, always or never", '"' + p.chat + '"');
  take(p.system, table.text("system"));
  take(p.style, table.text("style"));
  take(p.no_thinking, table.boolean("no_thinking"));
  take(p.keep_text_after_end, table.boolean("keep_text_after_end"));
  take(p.first_line, table.boolean("first_line"));
  take(p.published_normalisation, table.boolean("published_normalisation"));
  table.finish();
  return p;
}

ControlsEntry read_controls(const toml::table& controls, const TomlSource& source) {
  CheckedTable table(controls, source, "controls");
  ControlsEntry c;
  take(c.untrained, table.integer<std::uint32_t>("untrained", {0, kMostSeeds}));
  take(c.seed, table.integer<std::uint64_t>("seed", {0}));
  table.finish();
  return c;
}

std::vector<std::uint32_t> unsigned_numbers(CheckedTable& table, const std::string& key) {
  std::vector<std::uint32_t> out;
  for (const auto number : table.integers(key, {0})) out.push_back(static_cast<std::uint32_t>(number));
  return out;
}

HaystackEntry read_haystack(const toml::table& haystack, const TomlSource& source) {
  CheckedTable table(haystack, source, "data.haystack");
  HaystackEntry entry;
  auto& request = entry.request;
  entry.model = table.required_text("model");
  take(request.kind, table.text("kind"));
  request.lengths = unsigned_numbers(table, "lengths");
  if (const auto depths = unsigned_numbers(table, "depths"); !depths.empty()) request.depths = depths;
  take(request.per_cell, table.integer<std::uint32_t>("per_cell", {1}));
  take(request.needles, table.integer<std::uint32_t>("needles", {1}));
  take(request.version, table.integer<std::uint32_t>("version", {1, 2}));
  take(request.instruction, table.text("instruction"));
  take(request.seed, table.integer<std::uint64_t>("seed", {0}));
  if (const auto filler = table.text("filler")) entry.filler = *filler;
  table.finish();
  return entry;
}

DataEntry read_data(const toml::table& data, const TomlSource& source) {
  CheckedTable table(data, source, "data");
  DataEntry entry;
  entry.name = table.required_text("name");
  take(entry.description, table.text("description"));
  if (entry.description.size() > kLongestDescription)
    table.fail("description", fmt::format("a sentence of at most {} characters", kLongestDescription),
               fmt::to_string(entry.description.size()));
  if (const auto path = table.text("file")) entry.file = *path;
  if (const auto* made = table.table("world")) {
    CheckedTable world(*made, source, "data.world");
    world::WorldRequest w;
    w.count = kDefaultQuestions;
    take(w.version, world.integer<std::uint32_t>("version", {1, 2}));
    take(w.people, world.text("people"));
    take(w.noise_kind, world.text("noise"));
    take(w.task, world.text("task"));
    take(w.label_style, world.text("label_style"));
    take(w.wording, world.text("wording"));
    take(w.count, world.integer<std::uint32_t>("count", {1, kMostQuestions}));
    take(w.passages, world.integer<std::uint32_t>("passages", {0}));
    take(w.gold_position, world.integer<std::uint32_t>("gold_position", {0}));
    take(w.seed, world.integer<std::uint64_t>("seed", {0}));
    take(w.two_hop, world.boolean("two_hop"));
    world.finish();
    entry.world = w;
  }
  if (const auto* made = table.table("haystack")) entry.haystack = read_haystack(*made, source);
  if (const auto* stated = table.table("expect")) {
    CheckedTable expect(*stated, source, "data.expect");
    ExpectedData e;
    take(e.questions, expect.integer<std::uint64_t>("questions", {1, kMostQuestions}));
    take(e.passages, expect.integer<std::int64_t>("passages", {0, kMostExpectedPassages}));
    take(e.prompt_tokens, expect.integer<std::int64_t>("prompt_tokens", {1, kMostExpectedTokens}));
    expect.finish();
    entry.expected = e;
  }
  table.finish();
  if (entry.is_made() && entry.expected)
    table.fail("expect", "it with a file only", "it with a world or a haystack, whose questions are known");
  const int sources = !entry.file.empty() + entry.world.has_value() + entry.haystack.has_value();
  if (sources != 1) table.fail("name", "either file, world or haystack", sources == 0 ? "none" : "several");
  return entry;
}

// What traces and evaluations are asked alike.
void read_request(CheckedTable& table, std::int64_t fewest_passages, run::Request& request) {
  take(request.observe, table.text("observe"));
  take(request.prompt_template, table.text("prompt"));
  if (const auto limit = table.integer<std::size_t>("limit", {1})) request.read.limit = *limit;
  take(request.arrangement.passages, table.integer<std::int64_t>("passages", {fewest_passages}));
  take(request.arrangement.gold_position, table.integer<std::int64_t>("gold_position", {1}));
  request.arrangement.closed_book = request.arrangement.passages == 0;
}

Decoding read_own_decoding(CheckedTable& table, const TomlSource& source, const std::string& where) {
  const auto* own = table.table("decoding");
  if (own == nullptr) return {};
  CheckedTable inner(*own, source, where + ".decoding");
  auto decoding = read_decoding(inner);
  inner.finish();
  return decoding;
}

EvaluateEntry read_evaluate(const toml::table& evaluate, const TomlSource& source) {
  CheckedTable table(evaluate, source, "evaluate");
  EvaluateEntry e;
  e.name = table.required_text("name");
  e.data = table.texts("data");
  e.models = table.texts("models");
  read_request(table, 1, e.request);
  e.request.arrangement.noise = table.integer<std::size_t>("noise", {0});
  take(e.request.arrangement.gold_by_answer, table.boolean("gold_by_answer"));
  take(e.closed_book, table.boolean("closed_book"));
  take(e.sweep, table.text("sweep"));
  take(e.noise_kind, table.text("noise_kind"));
  take(e.columns_from, table.text("columns_from"));
  take(e.hide_top_of, table.text("hide_top_of"));
  take(e.hide_control, table.text("hide_control"));
  e.decoding = read_own_decoding(table, source, "evaluate");
  if (const auto* heads = table.table("heads")) {
    CheckedTable inner(*heads, source, "evaluate.heads");
    HeadsEntry h;
    h.trace = inner.required_text("trace");
    take(h.share, inner.number("share"));
    take(h.controls, inner.integer<std::int64_t>("controls", {0, kMostControls}));
    inner.finish();
    e.heads = h;
  }
  table.finish();
  if (e.data.empty()) table.fail("name", "the key \"data\" with at least one name", "none");
  return e;
}

std::optional<trace::Level> read_level(CheckedTable& table) {
  const auto name = table.text("keep");
  if (!name) return std::nullopt;
  for (const auto level : trace::kLevels) {
    if (*name == name_of(level)) return level;
  }
  table.fail("keep", "one of " + trace::level_names(), fmt::format("\"{}\"", *name));
  return std::nullopt;
}

// `keep` is that of the study.
TraceEntry read_trace(const toml::table& trace, const TomlSource& source, trace::Level keep) {
  CheckedTable table(trace, source, "trace");
  TraceEntry t;
  t.name = table.required_text("name");
  t.data = table.required_text("data");
  t.models = table.texts("models");
  t.request.observe = "all";
  t.request.groups = "regions";
  t.request.read.require_answers = false;
  read_request(table, 0, t.request);
  take(t.request.groups, table.text("groups"));
  take(t.request.layers, table.text("layers"));
  take(t.request.steps_observed, table.text("steps_observed"));
  const auto predicted_tokens = table.integer<std::int64_t>("predicted_tokens", {1, kMostPredictedTokens});
  const auto observed = observe::split_list(t.request.observe);
  if (predicted_tokens &&
      std::find(observed.begin(), observed.end(), observe::kPredictions) == observed.end())
    table.fail("predicted_tokens", "predictions among observe with it",
               fmt::format("observe = \"{}\"", t.request.observe));
  take(t.request.predicted_tokens, predicted_tokens);
  take(t.request.float16, table.boolean("float16"));
  t.request.keep = read_level(table).value_or(keep);
  const auto compact_samples = table.integer<std::int64_t>("compact_samples", {0, kMostQuestions});
  if (compact_samples && t.request.keep != trace::Level::kCompact)
    table.fail("compact_samples", "keep = \"compact\" with it",
               fmt::format("keep = \"{}\"", name_of(t.request.keep)));
  take(t.request.compact_samples, compact_samples);
  take(t.tasks_only, table.boolean("tasks_only"));
  t.decoding = read_own_decoding(table, source, "trace");
  table.finish();
  return t;
}

// Every name that is used must be there, and none twice.
class Names {
 public:
  Names(const Study& study, const TomlSource& source) : study_(study), source_(source) {}

  void check() const {
    auto models = names(study_.models);
    keep_free("models", models, kUntrainedPrefix);
    once("models", models);
    keep_free("models", models, kUntrainedPrefix);
    for (const auto& model : study_.models) {
      if (!model.arm.empty() && std::find(models.begin(), models.end(), model.arm) == models.end())
        models.push_back(model.arm);
    }
    const auto data = names(study_.data), traces = names(study_.traces);
    once("data", data), once("trace", traces), once("evaluate", names(study_.evaluations));
    for (const auto& made : study_.data) {
      if (made.haystack) known("data " + made.name, "haystack.model", {made.haystack->model}, models);
    }
    for (const auto& trace : study_.traces) {
      known("trace " + trace.name, "data", {trace.data}, data);
      known("trace " + trace.name, "models", trace.models, models);
    }
    for (const auto& run : study_.evaluations) {
      known("evaluate " + run.name, "data", run.data, data);
      known("evaluate " + run.name, "models", run.models, models);
      if (run.heads) known("evaluate " + run.name, "heads.trace", {run.heads->trace}, traces);
      if (!run.columns_from.empty()) check_columns(run, traces);
    }
  }

 private:
  template <typename T>
  static std::vector<std::string> names(const std::vector<T>& list) {
    std::vector<std::string> out;
    for (const auto& entry : list) out.push_back(entry.name);
    return out;
  }

  // Columns are hidden where attention was strong, step by step: states do not say.
  void check_columns(const EvaluateEntry& run, const std::vector<std::string>& traces) const {
    known("evaluate " + run.name, "columns_from", {run.columns_from}, traces);
    for (const auto& trace : study_.traces) {
      if (trace.name != run.columns_from || trace.request.keep == trace::Level::kFull) continue;
      fail(fmt::format("evaluate {}: columns_from", run.name),
           fmt::format("a trace with keep = \"full\", because columns are chosen from its arrays"),
           fmt::format("{}, which keeps {}", trace.name, name_of(trace.request.keep)));
    }
  }

  void fail(const std::string& where, const std::string& expected, const std::string& found) const {
    source_.problems.push_back(
        describe(Mismatch{fmt::format("{}: {}", source_.file, where), expected, found}));
  }

  void once(const char* what, const std::vector<std::string>& list) const {
    std::set<std::string> seen;
    for (const auto& name : list) {
      const auto odd = [](char c) {
        return static_cast<unsigned char>(c) <= ' ' || c == 0x7F || c == '/' || c == '\\';
      };
      if (name.empty()) continue;  // said already: the key is missing or no text
      if (std::any_of(name.begin(), name.end(), odd) || name[0] == '.')
        fail(what, "names fit for folders", '"' + name + '"');
      if (!seen.insert(name).second) fail(what, "different names", fmt::format("\"{}\" twice", name));
    }
  }

  void keep_free(const char* what, const std::vector<std::string>& list, std::string_view prefix) const {
    for (const auto& name : list) {
      if (name.starts_with(prefix))
        fail(what, fmt::format("names that do not begin with \"{}\", which controls have", prefix),
             '"' + name + '"');
    }
  }

  void known(const std::string& where, const char* key, const std::vector<std::string>& used,
             const std::vector<std::string>& all) const {
    for (const auto& name : used) {
      if (name.empty() || std::find(all.begin(), all.end(), name) != all.end()) continue;
      const auto near = nearest(name, all);
      fail(fmt::format("{}: {}", where, key),
           near.empty() ? fmt::format("one of {}", fmt::join(all, ", ")) : fmt::format("\"{}\"?", near),
           fmt::format("\"{}\", which nothing is called", name));
    }
  }

  const Study& study_;
  const TomlSource& source_;
};

toml::table parse(const std::filesystem::path& file) {
  constexpr std::uintmax_t kLargestStudy = std::uintmax_t{1} << 20;
  const std::string text = read_file(file, kLargestStudy);
  check_toml(text, file.string());
  try {
    return toml::parse(text, file.string());
  } catch (const toml::parse_error& error) {
    throw_input_error({fmt::format("{}:{}", file.string(), error.source().begin.line), "TOML",
                       std::string(error.description())});
  }
}

}  // namespace

bool can_read_studies() {
  return true;
}

StudyReading read_study_and_problems(const std::filesystem::path& path) {
  const toml::table root = parse(path);
  StudyReading reading;
  const TomlSource source{path.string(), reading.problems};
  CheckedTable table(root, source, "");
  Study& study = reading.study;
  study.file = path;
  take(study.title, table.text("title"));
  study.out = table.text("out").value_or("build/" + path.stem().string());
  const auto keep = read_level(table).value_or(trace::Level::kTables);
  if (const auto* models = table.table("models")) study.models = read_models(*models, source);
  if (const auto* decoding = table.table("decoding")) {
    CheckedTable inner(*decoding, source, "decoding");
    study.decoding = read_decoding(inner);
    inner.finish();
  }
  if (const auto* prompt = table.table("prompt")) study.prompt = read_prompt(*prompt, source);
  if (const auto* controls = table.table("controls")) study.controls = read_controls(*controls, source);
  for (const auto* data : table.tables("data")) study.data.push_back(read_data(*data, source));
  for (const auto* trace : table.tables("trace")) study.traces.push_back(read_trace(*trace, source, keep));
  for (const auto* run : table.tables("evaluate")) study.evaluations.push_back(read_evaluate(*run, source));
  if (const auto* report = table.table("report")) {
    CheckedTable inner(*report, source, "report");
    study.report.analyses = inner.texts("analyses");
    inner.finish();
  }
  if (const auto* published = table.table("published")) {
    CheckedTable inner(*published, source, "published");
    study.published = PublishedEntry{inner.required_text("file"), inner.texts("papers")};
    inner.finish();
    if (study.published->papers.empty()) inner.fail("", "the key \"papers\" with at least one", "none");
  }
  if (const auto* siblings = table.table("siblings")) {
    CheckedTable inner(*siblings, source, "siblings");
    for (const auto& file : inner.texts("tables")) study.siblings.emplace_back(file);
    inner.finish();
    if (study.siblings.empty()) inner.fail("", "the key \"tables\" with at least one file", "none");
  }
  table.finish();
  if (root.get("models") == nullptr || (study.models.empty() && reading.problems.empty()))
    table.fail("", "[models] with at least one", "none");
  if (root.get("trace") == nullptr && root.get("evaluate") == nullptr)
    table.fail("", "[[trace]] or [[evaluate]], something to do", "neither");
  Names(study, source).check();
  return reading;
}

}  // namespace buoy::study
