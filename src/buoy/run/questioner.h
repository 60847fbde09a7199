#pragma once

#include <filesystem>
#include <optional>

#include "buoy/questions/score/answer.h"
#include "buoy/run/answer_record.h"
#include "buoy/run/evaluation.h"
#include "buoy/run/loaded_model.h"
#include "buoy/run/prefix_cache.h"
#include "buoy/run/prompter.h"
#include "buoy/run/tracer.h"
#include "buoy/trace/writer.h"

namespace buoy::run {

// One cell of a run: a model asked a data set under a condition.
struct QuestionCell {
  const NamedPath* model;
  const NamedPath* data;
  const Condition* condition;
  std::size_t first = 0, items = 0;  // numbers of its answers in the run

  std::string name() const;  // fit to name a folder
};

// Where the traces of a cell are, when it is observed.
std::filesystem::path trace_folder(const std::filesystem::path& run_folder, const QuestionCell& cell);

// What is done with an answer: `number` is its number in the cell.
using TakeAnswer = std::function<void(std::size_t number, const AnswerRecord& record)>;

// Asks one model the questions of one cell.
class Questioner {
 public:
  Questioner(const Context& context, LoadedModel& model, const EvaluationSpec& spec, const QuestionCell& cell,
             const questions::NoisePool* pool);

  // Items from number `from` on, packed by the token budget, or one by one: into the trace when observing,
  // or with the columns hidden that are each item's own. A single question that cannot be asked or
  // computed becomes a record with an error; what concerns all of them is thrown.
  void ask(std::size_t from, const std::filesystem::path& run_folder, const TakeAnswer& take);

 private:
  struct Question {
    AnswerRecord record;
    ItemPrompt prompt;
  };

  std::optional<Question> prepare(const questions::Item& item, std::size_t number,
                                  const TakeAnswer& take) const;
  AnswerRecord answered(AnswerRecord record, const decode::StepMachine& machine) const;
  DecodeOptions decoding_of_item(std::size_t number) const;
  void ask_alone(Question question, std::size_t number, probe::Probe* probe, const TakeAnswer& take);
  void ask_packed(questions::ItemReader& reader, std::size_t from, const TakeAnswer& take);
  void ask_with_hidden_columns(questions::ItemReader& reader, std::size_t from, const TakeAnswer& take);
  void ask_observed(questions::ItemReader& reader, std::size_t from, const std::filesystem::path& folder,
                    const TakeAnswer& take);
  trace::Manifest manifest() const;

  const Context& context_;
  LoadedModel& model_;
  const EvaluationSpec& spec_;
  const QuestionCell& cell_;
  const questions::NoisePool* pool_;
  DecodeOptions decode_;
  Prompter prompter_;
  questions::AnswerRules rules_;
};

}  // namespace buoy::run
