#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include "buoy/questions/score/answer.h"
#include "buoy/run/answer_record.h"
#include "buoy/run/evaluation.h"
#include "buoy/run/live/live_times.h"
#include "buoy/run/loaded_model.h"
#include "buoy/run/prompter.h"

namespace buoy::run {

// One cell of a run: a model asked a data set under a condition.
struct QuestionCell {
  const NamedPath* model;
  const NamedPath* data;
  const Condition* condition;
  std::size_t first = 0, items = 0;  // numbers of its answers in the run

  std::string name() const;  // fit to name a folder
};

// A question about to be asked.
struct Question {
  std::size_t number = 0;  // in the cell
  AnswerRecord record;     // without an answer
  ItemPrompt prompt;
};

// What is done with an answer: `number` is its number in the cell.
using TakeAnswer = std::function<void(std::size_t number, const AnswerRecord& record)>;

class PackedAsker;

// Asks one model the questions of one cell.
class Questioner {
 public:
  Questioner(const Context& context, LoadedModel& model, const EvaluationSpec& spec, const QuestionCell& cell,
             const questions::NoisePool* pool);

  // Those of the items that are wanted (asked once for each number, ascending), packed by the token budget,
  // or one by one where columns are hidden that are each item's own; a small model by several workers
  // (sample_workers.h). A single question that cannot be asked or computed becomes a record with an error;
  // what concerns all of them is thrown. Answers are taken one at a time, in any order. Returns what
  // observing took.
  struct Wanted {
    std::size_t count = 0;  // at most
    std::function<bool(std::size_t number)> one;
    std::filesystem::path held_in = {};  // records that wait for the end of their question; see ScratchFile
  };
  LiveTimes ask(const Wanted& wanted, const TakeAnswer& take);

  // For those who ask; by any number of threads at once.
  // The question that an item is under the cell's condition; one that cannot be asked is taken as a record
  // with an error.
  std::optional<Question> prepare(const questions::Item& item, std::size_t number,
                                  const TakeAnswer& take) const;
  const QuestionCell& cell() const { return cell_; }
  const DecodeOptions& decode() const { return decode_; }
  const std::optional<text::Tokenizer>& tokenizer() const { return model_.tokenizer; }
  std::optional<Request> observed() const;  // what is asked for, where attention is watched
  std::unique_ptr<decode::StepMachine> machine(const model::Model& model, const Question& question,
                                               std::optional<model::KvCache> cache) const;
  AnswerRecord answered(AnswerRecord record, const decode::StepMachine& machine) const;

 private:
  void ask_with_hidden_columns(PackedAsker& asker, const ColumnBook& book,
                               const std::function<std::optional<Question>()>& next,
                               const TakeAnswer& take) const;

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
