#include "buoy/run/ask/questioner.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "buoy/base/error.h"
#include "buoy/questions/passages.h"
#include "buoy/run/ask/packed_asker.h"
#include "buoy/run/sample_workers.h"

namespace buoy::run {
namespace {

questions::AnswerRules rules_for(const EvaluationSpec& spec, const ChatChoice& chat, const LoadedModel& model,
                                 const DecodeOptions& decode, const std::filesystem::path& folder) {
  questions::AnswerRules rules;
  if (chat.use) rules = ChatRenderer(chat, folder).answer_rules(*model.tokenizer);
  for (const auto id : end_tokens(model.model.config(), decode, model.tokenizer)) rules.end_ids.push_back(id);
  rules.keep_text_after_end = spec.keep_text_after_end;
  rules.first_line_only = spec.first_line_only;
  return rules;
}

// Fit for a folder, and another for every other text.
std::string file_name(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool safe =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '=';
    out += safe ? std::string(1, c) : fmt::format("_{:02x}", static_cast<unsigned char>(c));
  }
  return out;
}

}  // namespace

std::string QuestionCell::name() const {
  return fmt::format("{}.{}.{}", file_name(model->name), file_name(data->name), file_name(condition->name));
}

Questioner::Questioner(const Context& context, LoadedModel& model, const EvaluationSpec& spec,
                       const QuestionCell& cell, const questions::NoisePool* pool)
    : context_(context),
      model_(model),
      spec_(spec),
      cell_(cell),
      pool_(pool),
      decode_(fitting(model.model.config().family,
                      decoding_of(*cell.condition, spec.decoding(cell.model->name)))),
      prompter_(template_for(spec, *cell.condition), settle(spec.chat_use, spec.chat, cell.model->path),
                cell.model->path, need_tokenizer(model.tokenizer, cell.model->path)),
      rules_(rules_for(spec, settle(spec.chat_use, spec.chat, cell.model->path), model, decode_,
                       cell.model->path)) {}

std::optional<Question> Questioner::prepare(const questions::Item& item, std::size_t number,
                                            const TakeAnswer& take) const {
  Question question;
  question.number = number;
  AnswerRecord& record = question.record;
  record.model = cell_.model->name;
  record.set = cell_.data->name;
  record.condition = cell_.condition->name;
  record.id = item.id;
  record.question = item.question;
  record.golds = item.answers;
  record.labels = item.labels;
  try {
    questions::Item arranged = prompter_.arranged(item, *cell_.condition, {pool_, number, spec_.decode.seed});
    if (!decode_.allow_long) {
      const std::int64_t room = model_.model.config().context - decode_.max_new_tokens;
      if (const auto fit = prompter_.fit(arranged, static_cast<std::size_t>(std::max<std::int64_t>(room, 1))))
        record.cut_passages = static_cast<std::int64_t>(fit->affected());
    }
    question.prompt = prompter_.prompt(arranged);
    record.prompt = question.prompt.prompt.rendered;
    record.prompt_tokens = static_cast<std::int64_t>(question.prompt.prompt.ids.size());
    record.passages = static_cast<std::int64_t>(arranged.passages.size());
    for (const auto position : questions::gold_positions(arranged))
      record.gold_positions.push_back(static_cast<std::int64_t>(position));
    return question;
  } catch (const UsageError& error) {
    record.error = error.what();
  } catch (const InputError& error) {
    record.error = error.what();
  }
  take(number, record);
  return std::nullopt;
}

AnswerRecord Questioner::answered(AnswerRecord record, const decode::StepMachine& machine) const {
  const auto answer = questions::clean_answer(machine.generated(), *model_.tokenizer, rules_);
  record.answer = answer.text;
  record.ended = answer.ended;
  record.tokens = static_cast<std::int64_t>(answer.tokens);
  record.ids_without_text = answer.ids_without_text;
  record.scores = questions::score_answer(answer.text, record.golds, spec_.normalisation);
  return record;
}

std::optional<Request> Questioner::observed() const {
  if (spec_.observe.empty()) return std::nullopt;
  Request request = spec_;
  request.decode = decode_;
  return request;
}

std::unique_ptr<decode::StepMachine> Questioner::machine(const model::Model& model, const Question& question,
                                                         std::optional<model::KvCache> cache) const {
  DecodeOptions decode = decode_;
  decode.seed += question.number;
  return make_machine(model, decode, question.prompt.prompt.ids, model_.tokenizer, std::move(cache));
}

LiveTimes Questioner::ask(const Wanted& wanted, const TakeAnswer& take) {
  const Condition& condition = *cell_.condition;
  if (!spec_.observe.empty() && (!condition.heads_off.empty() || condition.hidden || condition.top))
    throw_usage_error({"`observe`", "conditions that leave the model as it is", condition.name});
  std::optional<ColumnBook> book;
  if (condition.hidden) book.emplace(condition.column_traces.at(cell_.model->name));
  const std::size_t questions = std::min(wanted.count, cell_.items);
  SampleWorkers workers(
      context_, model_,
      samples_at_once(model_.model, context_.threads.size(), questions, spec_.batch.token_budget));
  const auto count = static_cast<std::size_t>(workers.count());
  // Each worker packs its share of the questions, so that none is left without.
  decode::StreamOptions batch = spec_.batch;
  batch.most_sequences = std::clamp<std::size_t>((questions + count - 1) / count, 1, batch.most_sequences);

  questions::ItemReader reader(cell_.data->path, spec_.read);
  std::size_t number = 0;
  bool stopped = false;  // a worker failed
  std::mutex reading, taking;
  const TakeAnswer take_one = [&](std::size_t n, const AnswerRecord& record) {
    const std::lock_guard lock(taking);
    take(n, record);
  };
  const auto next = [&]() -> std::optional<Question> {
    for (;;) {
      std::optional<questions::Item> item;
      std::size_t n = 0;
      {
        const std::lock_guard lock(reading);
        if (stopped) return std::nullopt;
        item = reader.next();
        n = number++;
        if (item && !wanted.one(n)) continue;
      }
      if (!item) return std::nullopt;
      if (auto question = prepare(*item, n, take_one)) return question;
    }
  };
  LiveTimes times;
  workers.run([&](int worker) {
    PackedAsker asker(workers.context(worker), workers.model(worker).model, *this, batch, take_one);
    asker.hold_in(wanted.held_in, workers.count());
    try {
      book ? ask_with_hidden_columns(asker, *book, next, take_one) : asker.ask(next);
    } catch (...) {
      const std::lock_guard lock(reading);
      stopped = true;
      throw;
    }
    const std::lock_guard lock(taking);
    times += asker.times().divided_by(workers.count());
  });
  return times;
}

void Questioner::ask_with_hidden_columns(PackedAsker& asker, const ColumnBook& book,
                                         const std::function<std::optional<Question>()>& next,
                                         const TakeAnswer& take) const {
  while (auto question = next()) {
    ColumnSets sets;
    try {
      sets = book.choose(question->record.id, question->prompt.prompt.ids, *cell_.condition->hidden,
                         spec_.decode.seed + question->number);
    } catch (const InputError& error) {
      question->record.error = error.what();
      take(question->number, question->record);
      continue;
    }
    ColumnChangeProbe mask(std::move(sets));
    asker.ask_alone(std::move(*question), mask);
  }
}

}  // namespace buoy::run
