#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "buoy/base/file/named_path.h"
#include "buoy/base/stopwatch.h"
#include "buoy/decode/stream.h"
#include "buoy/questions/score/normalise.h"
#include "buoy/run/condition.h"
#include "buoy/run/live/live_times.h"
#include "buoy/run/parts/part.h"
#include "buoy/run/request.h"

namespace buoy::run {

// Everything that decides the answers of a run, and how it is to be run.
struct EvaluationSpec : Request {
  EvaluationSpec() {
    groups = "regions";
    float16 = true;
  }

  std::vector<NamedPath> models;
  std::vector<NamedPath> data;
  std::vector<Condition> conditions;

  // The template is that with passages; "": shared-passages.
  std::string closed_book_prompt;    // "": the twin of the template, see closed_book_twin()
  bool keep_text_after_end = false;  // the authors' rule for LLaDA
  bool first_line_only = false;
  questions::Normalisation normalisation = questions::Normalisation::kUnicode;
  std::map<std::string, DecodeOptions> decode_of_model;  // instead of `decode`, by name

  // Not part of what decides the answers.
  decode::StreamOptions batch;
  int threads = 1;

  const DecodeOptions& decoding(const std::string& model) const {
    const auto own = decode_of_model.find(model);
    return own == decode_of_model.end() ? decode : own->second;
  }
};

struct EvaluationProgress {
  std::function<void(std::size_t answers)> begin;  // how many there are to find
  std::function<void()> step;                      // one was found
  std::function<void(const std::string&)> note;    // a warning for people
  // Of a part: how many answers it has, and how many of them were there already.
  std::function<void(std::size_t answers, std::size_t kept)> part = {};
  Stopwatch* clock = nullptr;  // told when loading and decoding end; may be null
};

struct EvaluationResult {
  std::size_t answers = 0;  // of the whole run
  std::size_t asked = 0;    // now, without those that were there already
  std::size_t failed = 0;   // of these
  std::string last_error;   // of a question that failed
  double seconds = 0;       // for these
  LiveTimes observing;      // within these seconds
};

// Asks every model every question of every data set under every condition, in this order, and leaves in the
// folder run.json (what was asked, how) and answers.jsonl; with `observe` answers have attention features.
// With `resume` a run that was interrupted is continued: the files come out the same. InputErrors: bad data,
// a folder with another run in it.
EvaluationResult run_evaluation(const EvaluationSpec& spec, const std::filesystem::path& folder, bool resume,
                                const EvaluationProgress& progress);
// One part of it: the same files in the folder of the part, with the answers of this part.
EvaluationResult run_evaluation_part(const EvaluationSpec& spec, const Sharding& sharding,
                                     const EvaluationProgress& progress);

// The template without passages that belongs to one with them: "shared-closed-book" to "shared-passages",
// "NAME-closed-book" to another built-in NAME, FILE-closed-book.EXT to FILE.EXT. Where there is none, the
// template itself.
std::string closed_book_twin(const std::string& prompt);

// InputError where no template is named for an item that has a ready prompt beside its question: it would be
// passed over.
void require_template(const EvaluationSpec& spec, const std::filesystem::path& data, const std::string& item);

// The template that a condition is asked with: its own, or the run's with or without passages.
std::string template_for(const EvaluationSpec& spec, const Condition& condition);

// Asked without passages or with them: the first item decides. For runs that do not say.
bool has_passages(const std::filesystem::path& data, const questions::ReadOptions& options);

}  // namespace buoy::run
