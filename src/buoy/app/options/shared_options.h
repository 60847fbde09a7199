#pragma once

#include <string>

#include "buoy/app/options/options.h"
#include "buoy/base/error.h"
#include "buoy/decode/options.h"
#include "buoy/trace/level.h"

namespace buoy::app {

// Options that several commands have. Each is declared once, so that a name means the same everywhere;
// docs/command-line.md lists them.
template <typename Path>
Option* add_out_option(Command& command, Path& out) {
  return command
      .add_option("--out", out,
                  "where to write: a folder; forward, index, world and\n"
                  "haystack write one file")
      ->type_name("PATH");
}

template <typename Count>
Option* add_limit_option(Command& command, Count& limit) {
  return command.add_option("--limit", limit, "only the first N questions or samples")->positive();
}

template <typename Count>
Option* add_passages_option(Command& command, Count& passages) {
  return command.add_option("--passages", passages, "passages of a question, at most (0: closed book)")
      ->nonnegative();
}

template <typename Count>
Option* add_gold_position_option(Command& command, Count& position) {
  return command.add_option("--gold-position", position, "place of the gold passage, from 1")->positive();
}

template <typename Count>
Option* add_resamples_option(Command& command, Count& resamples) {
  return command
      .add_option("--resamples", resamples,
                  "of the bootstrap that gives intervals (default 1000; eval: 2000, at least 100)")
      ->range(10, 100000);
}

inline Option* add_seed_option(Command& command, std::uint64_t& seed) {
  return command.add_option("--seed", seed, std::string(decode::find_option("seed").help));
}

template <typename Version>
Option* add_world_version_option(Command& command, Version& version) {
  return command
      .add_option(
          "--version", version,
          "1 (default): the world of the bundled planted pair; 2: that of the natural family, with more\n"
          "to ask and several forms of prompts (docs/data-formats.md)")
      ->range(1, 2);
}

inline Option* add_noise_kind_option(Command& command, std::string& kind,
                                     const std::vector<std::string>& kinds) {
  return command.add_option("--noise-kind", kind, "what noise passages are made of (default random)")
      ->one_of(kinds)
      ->type_name("KIND");
}

inline Option* add_top_option(Command& command, std::size_t& top) {
  return command.add_option("--top", top, "passages to find for a question (default 5)")->positive();
}

inline Option* add_observe_option(Command& command, std::string& list) {
  return command
      .add_option(
          "--observe", list,
          "what of attention to store, as in received,rows (`buoy trace --help` lists it; trace: received\n"
          "and entropy unless told; eval: nothing, or `features`: numbers to hold against right and wrong)")
      ->type_name("LIST");
}

inline Option* add_keep_option(Command& command, std::string& keep) {
  return command
      .add_option(
          "--keep", keep,
          "what to keep of a sample: tables (what analyses made; default of watch), compact (also what\n"
          "the explorer draws; default of compact), full (all that is observed; default of trace)")
      ->one_of({"tables", "compact", "full"})
      ->type_name("LEVEL");
}

inline Option* add_compact_samples_option(Command& command, std::int64_t& samples) {
  return command
      .add_option("--compact-samples", samples,
                  "with --keep compact: of how many samples, the first, also heads and rows (default 4)")
      ->range(0, 1e6);
}

// It would be ignored at other levels.
inline void require_compact(const Option& compact_samples, trace::Level keep) {
  if (compact_samples.given() && keep != trace::Level::kCompact)
    throw_usage_error(
        {compact_samples.name(), "--keep compact with it", "--keep " + std::string(name_of(keep))});
}

inline Option* add_ignore_space_flag(Command& command, bool& ignore_space) {
  return command.add_flag("--ignore-space", ignore_space, "run even if the results will not fit on the disk");
}

inline Option* add_timing_flag(Command& command, bool& timing) {
  return command.add_flag("--timing", timing, "say where the time went: loading, decoding, writing");
}

inline Option* add_json_flag(Command& command, bool& json) {
  return command.add_flag("--json", json, "print JSON, for programs");
}

inline Option* add_trust_flag(Command& command, bool& trust) {
  return command.add_flag("--trust", trust, "do not compare checksums: for traces you made yourself");
}

inline Option* add_resume_flag(Command& command, bool& resume) {
  return command.add_flag("--resume", resume, "go on with a run that was interrupted");
}

template <typename Files>
Option* add_data_option(Command& command, Files& data) {
  return command
      .add_option("--data", data,
                  "questions, JSON Lines, plain or gzip (docs/data-formats.md; - is standard input;\n"
                  "eval: files only, several, NAME=FILE names one)")
      ->type_name("F.jsonl");
}

inline Option* add_template_option(Command& command, std::string& prompt_template) {
  return command
      .add_option("--template", prompt_template,
                  "prompt template of the questions: a built-in name or a file (docs/data-formats.md)")
      ->type_name("NAME|FILE");
}

}  // namespace buoy::app
