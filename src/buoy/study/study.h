#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "buoy/run/evaluation.h"
#include "buoy/world/haystack.h"
#include "buoy/world/world_request.h"

namespace buoy::study {

// How a model decodes; what is not given keeps the program's default.
struct Decoding {
  decode::DecodeOptions values;
  std::vector<const decode::DecodeOption*> given;

  void apply_to(decode::DecodeOptions& options) const;
};

// What is known of a model that is not there: from it is computed what it would take.
struct ExpectedModel {
  std::filesystem::path config;     // folder with its config.json
  std::optional<double> gigabytes;  // of its files; nothing: two bytes for each parameter of the config
};

// One network. Several of one arm are named ARM.1, ARM.2 and so on; ARM stands for all of them.
struct ModelEntry {
  std::string name;
  std::filesystem::path path;
  Decoding decoding;                                 // on top of the study's
  std::string arm = {};                              // "": it is alone, and its own arm
  std::optional<std::uint64_t> untrained_seed = {};  // a control: its config before any training
  std::optional<ExpectedModel> expected = {};

  bool is_called(const std::string& what) const { return what == name || (!arm.empty() && what == arm); }
};

// Networks that were never trained, beside every trace (docs/studies.md, controls).
struct ControlsEntry {
  std::uint32_t untrained = 1;  // seeds of every config; 0: none
  std::uint64_t seed = 1;       // the first
};

struct PromptEntry {
  std::string with_passages, closed_book;  // templates; "": the program's defaults
  std::string chat = "auto";               // auto, always, never
  std::string system, style;
  bool no_thinking = false, keep_text_after_end = false, first_line = false, published_normalisation = false;
};

// What sizes are computed from where a file of questions is not there yet.
struct ExpectedData {
  std::uint64_t questions = 100;
  std::int64_t passages = 10;         // of a question
  std::int64_t prompt_tokens = 1000;  // with all of them
};
// Haystacks, as long as they are to the tokenizer of one model of the study.
struct HaystackEntry {
  std::string model;
  std::filesystem::path filler;    // a text; empty: none
  world::HaystackRequest request;  // without the filler
};
// Questions: a file, or made from the world that the bundled networks know, or haystacks.
struct DataEntry {
  std::string name;
  std::string description = {};  // a sentence for readers of the report
  std::filesystem::path file;    // empty: made
  std::optional<world::WorldRequest> world;
  std::optional<HaystackEntry> haystack = {};
  bool is_made() const { return world || haystack; }
  std::optional<ExpectedData> expected;
};

struct HeadsEntry {
  std::string trace;
  double share = 0.05;
  std::int64_t controls = 5;
};
struct EvaluateEntry {
  std::string name;
  std::vector<std::string> data, models;         // names; no models: all
  run::Request request = run::EvaluationSpec();  // with the template as written; "": the study's
  bool closed_book = false;
  std::string sweep, noise_kind = "random";
  std::string hide_top_of, hide_control;  // with the sweep "hidden-keys"
  std::optional<HeadsEntry> heads;
  std::string columns_from;  // name of a trace; "": no columns are hidden
  Decoding decoding = {};    // on top of the model's
};

struct TraceEntry {
  std::string name, data;
  std::vector<std::string> models;  // none: all
  run::Request request;             // with the template as written; "": the study's
  bool tasks_only = false;          // for the comparison of tasks and no other analysis
  Decoding decoding = {};           // on top of the model's
};

struct ReportEntry {
  std::vector<std::string> analyses;  // none: all
};

// Numbers of papers that the study's own stand beside.
struct PublishedEntry {
  std::filesystem::path file;
  std::vector<std::string> papers;  // their keys in the file
};

// A whole study, as a file describes it.
struct Study {
  std::filesystem::path file;  // that it was read from
  std::string title;
  std::filesystem::path out;
  std::vector<ModelEntry> models;
  Decoding decoding;
  PromptEntry prompt;
  ControlsEntry controls;
  std::vector<DataEntry> data;
  std::vector<TraceEntry> traces;
  std::vector<EvaluateEntry> evaluations;
  ReportEntry report;
  std::optional<PublishedEntry> published = {};
  std::vector<std::filesystem::path> siblings;  // tables of networks that were measured elsewhere
};

// Whether this build can read studies (it has toml++).
bool can_read_studies();

// Reads and checks a study: unknown keys are refused with the nearest known one, and so are names of models,
// data and traces that nothing has. Every problem names file, line, expected and found; all of them are found
// at once. Paths stay as written; those of models, data and templates are relative to the study's file.
struct StudyReading {
  Study study;                        // without what is wrong
  std::vector<std::string> problems;  // none: the study is right
};
StudyReading read_study_and_problems(const std::filesystem::path& file);

// The study, or an InputError with all problems.
Study read_study(const std::filesystem::path& file);

// InputError with all problems, one a line, if there is any.
void refuse(const std::filesystem::path& file, const std::vector<std::string>& problems);

}  // namespace buoy::study
