#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "buoy/base/file/locked_file.h"
#include "buoy/run/answer_record.h"

namespace buoy::run {

inline constexpr char kAnswersFile[] = "answers.jsonl";
inline constexpr char kPartialAnswersFile[] = "answers.partial.jsonl";

// The answers of a run, in the order of the plan whatever order they are found in: line n is answer n. Until
// all are there the file is called answers.partial.jsonl, so that a part never looks like the whole. Whoever
// has it open owns the run: a second opener is refused.
class AnswerFile {
 public:
  // Keeps the whole lines that an interrupted run left, drops one that was being written. UsageError while
  // another process writes to the run.
  explicit AnswerFile(std::filesystem::path folder);

  std::size_t kept() const { return kept_; }  // answers that were there already
  bool complete() const { return !file_; }

  // Answer `number` of the plan; each once, from kept() on. Written as soon as all before it are.
  void put(std::size_t number, const AnswerRecord& record);
  void finish();

 private:
  std::filesystem::path final_;
  std::optional<LockedFile> file_;  // none when the run is complete
  std::size_t kept_ = 0, next_ = 0;
  std::map<std::size_t, std::string> ahead_;  // found before those in front of them
};

// Whether this is the file of a run that was killed before it wrote its first answer.
bool is_begun_and_empty(const std::filesystem::path& file);

// Calls `take` for every answer of a finished run, or of all parts of one, one at a time. InputErrors name
// file and line.
void read_answers(const std::filesystem::path& folder, const std::function<void(AnswerRecord&&)>& take);

}  // namespace buoy::run
