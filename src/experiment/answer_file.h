#pragma once

#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <string>

#include "experiment/answer_record.h"

namespace buoy::experiment {

inline constexpr char kAnswersFile[] = "answers.jsonl";

// The answers of a run, in the order of the plan whatever order they are found in: line n is answer n. Until
// all are there the file is called answers.partial.jsonl, so that a part never looks like the whole.
class AnswerFile {
 public:
  // Keeps the whole lines that an interrupted run left, drops one that was being written.
  explicit AnswerFile(std::filesystem::path folder);
  ~AnswerFile();
  AnswerFile(const AnswerFile&) = delete;
  AnswerFile& operator=(const AnswerFile&) = delete;

  std::size_t kept() const { return kept_; }  // answers that were there already
  bool complete() const { return complete_; }

  // Answer `number` of the plan; each once, from kept() on. Written as soon as all before it are.
  void put(std::size_t number, const AnswerRecord& record);
  void finish();

 private:
  void write(const std::string& line);

  std::filesystem::path partial_, final_;
  std::FILE* file_ = nullptr;
  std::size_t kept_ = 0, next_ = 0;
  bool complete_ = false;
  std::map<std::size_t, std::string> ahead_;  // found before those in front of them
};

// Calls `take` for every answer of a finished run, one at a time. InputErrors name file and line.
void read_answers(const std::filesystem::path& folder, const std::function<void(AnswerRecord&&)>& take);

}  // namespace buoy::experiment
