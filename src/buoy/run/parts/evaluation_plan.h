#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "buoy/run/answer_record.h"

namespace buoy::run {

// The answers of a run in their order: cells after each other, items within each. What joins parts knows
// neither data nor models.
class EvaluationPlan {
 public:
  struct Cell {
    std::string model, set, condition;
    std::size_t first = 0;
  };

  EvaluationPlan(std::vector<Cell> cells, std::map<std::string, std::vector<std::string>> ids_of_set);
  static EvaluationPlan read(const std::filesystem::path& out);  // of a run in parts
  static std::filesystem::path file(const std::filesystem::path& out);

  std::string text() const;
  std::size_t size() const { return size_; }
  // InputError for an answer that the plan has not.
  std::size_t number_of(const AnswerRecord& record) const;

 private:
  std::vector<Cell> cells_;
  std::map<std::string, std::vector<std::string>> ids_;
  std::map<std::string, std::map<std::string, std::size_t>> place_;  // of an id in its set
  std::map<std::tuple<std::string, std::string, std::string>, std::size_t> first_;
  std::size_t size_ = 0;
};

}  // namespace buoy::run
