#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "buoy/base/file/mapped_file.h"
#include "buoy/run/answer_record.h"
#include "buoy/run/parts/evaluation_plan.h"

namespace buoy::run {

// The answers of all parts of an evaluation, finished parts or not. Only where each is found is in memory.
class AnswerParts {
 public:
  // InputErrors name parts of another run, one part twice, an answer that two parts hold differently: of runs
  // on a GPU, where a question is rounded with those that it was packed with, the first part's is taken.
  static AnswerParts open(const std::filesystem::path& out);

  std::size_t planned() const { return found_.size(); }
  const std::vector<std::size_t>& missing() const { return missing_; }  // numbers, ascending

  // Answers that two parts hold differently (on a GPU), and those of them whose text differs.
  struct Differing {
    std::size_t answers = 0, texts = 0;
  };
  const Differing& differing() const { return differing_; }

  // Lines in the order of the plan; InputError while one is missing.
  void each_line(const std::function<void(std::string_view line)>& take) const;
  void read(const std::function<void(AnswerRecord&&)>& take) const;
  // answers.jsonl in the folder of the run.
  void write(const std::filesystem::path& out) const;

 private:
  struct Found {
    std::int32_t part = -1;
    std::uint32_t length = 0;
    std::uint64_t offset = 0;
    std::uint32_t line = 0;  // of its file, from 1
  };
  struct File {
    std::string name;
    std::unique_ptr<MappedFile> bytes;
  };
  void require_all() const;
  std::string_view line(std::size_t number) const;
  struct Line {
    std::size_t number;
    Found found;  // but for the part
  };
  using Lines = std::vector<Line>;
  static Lines lines_of(const File& file, const EvaluationPlan& plan);
  void take_files(const EvaluationPlan& plan, bool rounds_by_packing);
  void note_difference(std::size_t number, std::string_view other, const File& file, bool rounds_by_packing);
  std::string name_of(std::size_t number) const;  // file and line

  std::string out_;
  std::vector<File> parts_;
  std::vector<Found> found_;
  std::vector<std::size_t> missing_;
  Differing differing_;
};

}  // namespace buoy::run
