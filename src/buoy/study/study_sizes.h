#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "buoy/run/loaded_model.h"
#include "buoy/run/sample_bytes.h"
#include "buoy/study/study_plan.h"

namespace buoy::study {

// What was found out about a model without running it; what could not be read is missing.
struct StudyModel {
  const study::ModelEntry* entry = nullptr;
  std::optional<ModelConfig> config;
  std::uint64_t stored_bytes = 0;  // of the weights; 0: not known
  std::optional<text::Tokenizer> tokenizer;
};

// The questions of a data set: how many, and the first of them.
struct StudyData {
  static constexpr std::size_t kSample = 200;
  std::size_t count = 0;
  std::vector<questions::Item> sample;
  std::uint64_t bytes = 0;  // that the study will write
  bool expected = false;    // made up from what the study expects: the file is not there
};

// Questions as a study expects them: their prompts have about as many tokens, at four bytes a token.
StudyData expected_data(const study::ExpectedData& expected);

struct StudyFacts {
  std::map<std::string, StudyModel> models;
  std::map<std::string, StudyData> data;
};

// One part of a study: how much it asks, and what it leaves on the disk.
struct StudyPart {
  std::string name;
  std::uint64_t questions = 0;
  std::uint64_t forwards = 0;              // at most: an answer may end before its last token
  double work = 0;                         // floating-point operations of products with weights, at most
  std::uint64_t bytes = 0;                 // about
  std::optional<trace::Level> level = {};  // of a trace: what it keeps
  std::map<trace::Level, std::uint64_t> of_level = {};  // of a trace: what it would take with each
  std::uint64_t there = 0;                              // bytes that an earlier run left
  bool known = true;  // false: its model or data are missing, so there is more to it

  std::uint64_t missing() const { return bytes > there ? bytes - there : 0; }
};

// Prompts of one part for one model, tried on the sample.
struct TriedPrompts {
  std::size_t tried = 0, made = 0;
  std::string first_error;   // of those that could not be made
  std::int64_t longest = 0;  // tokens, generated ones included
  double text_bytes = 0;     // mean
  double tokens = 0;         // mean, generated ones included
  run::SampleBytes sample;   // mean, of a trace
};

// Measures parts of a study by the first questions of their data and by configs; no weights are needed.
class StudySizes {
 public:
  StudySizes(const StudyPlan& plan, const StudyFacts& facts) : plan_(plan), facts_(facts) {}

  StudyPart data(const study::DataEntry& entry) const;
  StudyPart trace(const study::TraceEntry& entry, const study::ModelEntry& model);
  StudyPart evaluation(const study::EvaluateEntry& entry);
  static StudyPart report(const StudyPlan& plan);

  // Tokens of the longest prompt tried for a model, with its answer.
  std::int64_t longest(const std::string& model) const;
  // Parts of which no question can be asked at all, and why.
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  struct Asking {
    const StudyModel& model;
    run::Request request;                    // with the decoding that fits the model
    bool cut_to_fit = false;                 // passages that go beyond the context
    bool guess = false;                      // tokens of prompts that are made up
    std::vector<std::string> analyses = {};  // whose states a trace keeps
  };
  TriedPrompts try_prompts(const Asking& asking, const std::vector<questions::Item>& items,
                           std::size_t most) const;
  static double work_of(const Asking& asking, const TriedPrompts& tried, bool observed);
  void note_failure(const std::string& part, const TriedPrompts& tried, std::size_t count);

  const StudyPlan& plan_;
  const StudyFacts& facts_;
  std::map<std::string, std::int64_t> longest_;
  std::vector<std::string> problems_;
};

}  // namespace buoy::study
