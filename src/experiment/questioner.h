#pragma once

#include <filesystem>
#include <optional>

#include "evaluate/answer.h"
#include "experiment/answer_record.h"
#include "experiment/evaluation.h"
#include "experiment/loaded_model.h"
#include "experiment/prefix_cache.h"
#include "experiment/prompter.h"
#include "experiment/tracer.h"
#include "trace/writer.h"

namespace buoy::experiment {

// One cell of a run: a model asked a data set under a condition.
struct QuestionCell {
  const Named* model;
  const Named* data;
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
             const evaluate::NoisePool* pool);

  // Items from number `from` on, packed by the token budget, or one by one: into the trace when observing,
  // or with the columns hidden that are each item's own. A single question that cannot be asked or
  // computed becomes a record with an error; what concerns all of them is thrown.
  void ask(std::size_t from, const std::filesystem::path& run_folder, const TakeAnswer& take);

 private:
  struct Question {
    AnswerRecord record;
    ItemPrompt prompt;
  };

  std::optional<Question> prepare(const evaluate::Item& item, std::size_t number,
                                  const TakeAnswer& take) const;
  AnswerRecord answered(AnswerRecord record, const decode::StepMachine& machine) const;
  DecodeOptions decoding_of_item(std::size_t number) const;
  void ask_alone(Question question, std::size_t number, probe::Probe* probe, const TakeAnswer& take);
  void ask_packed(evaluate::ItemReader& reader, std::size_t from, const TakeAnswer& take);
  void ask_with_hidden_columns(evaluate::ItemReader& reader, std::size_t from, const TakeAnswer& take);
  void ask_observed(evaluate::ItemReader& reader, std::size_t from, const std::filesystem::path& folder,
                    const TakeAnswer& take);
  trace::Manifest manifest() const;

  const Context& context_;
  LoadedModel& model_;
  const EvaluationSpec& spec_;
  const QuestionCell& cell_;
  const evaluate::NoisePool* pool_;
  DecodeOptions decode_;
  Prompter prompter_;
  evaluate::AnswerRules rules_;
};

}  // namespace buoy::experiment
