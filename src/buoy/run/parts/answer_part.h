#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "buoy/base/file/locked_file.h"
#include "buoy/run/answer_record.h"

namespace buoy::run {

// The answers of one part of a run: answers.partial.jsonl in the order in which they were found,
// answers.jsonl in the order of the plan when the part has ended. Whoever has it open owns the part.
class AnswerPart {
 public:
  using NumberOf = std::function<std::size_t(const AnswerRecord& record)>;

  // Keeps the whole answers that an interrupted run left; `number_of` says which those are. UsageError while
  // another process writes to the part.
  AnswerPart(std::filesystem::path folder, const NumberOf& number_of);

  bool has(std::size_t number) const { return lines_.contains(number); }
  std::size_t kept() const { return lines_.size(); }
  const auto& numbers() const { return lines_; }

  void put(std::size_t number, const AnswerRecord& record);
  void finish();

 private:
  void reopen();

  std::filesystem::path folder_;
  std::optional<LockedFile> file_;
  std::map<std::size_t, std::string> lines_;
  bool complete_ = false;
};

}  // namespace buoy::run
