#include "buoy/run/questioner.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "buoy/analysis/sample/stored_source.h"
#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"
#include "buoy/base/file/mapped_file.h"
#include "buoy/decode/drive.h"
#include "buoy/questions/passages.h"
#include "buoy/run/attention_features.h"
#include "buoy/run/identity.h"

namespace buoy::run {
namespace {

questions::AnswerRules rules_for(const EvaluationSpec& spec, const ChatChoice& chat, const LoadedModel& model,
                                 const DecodeOptions& decode, const std::filesystem::path& folder) {
  questions::AnswerRules rules;
  if (chat.use) rules = ChatRenderer(chat, folder).answer_rules(*model.tokenizer);
  for (const auto id : end_tokens(model.model, decode, model.tokenizer)) rules.end_ids.push_back(id);
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

std::filesystem::path trace_folder(const std::filesystem::path& run_folder, const QuestionCell& cell) {
  return run_folder / "traces" / cell.name();
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

std::optional<Questioner::Question> Questioner::prepare(const questions::Item& item, std::size_t number,
                                                        const TakeAnswer& take) const {
  Question question;
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

void Questioner::ask(std::size_t from, const std::filesystem::path& run_folder, const TakeAnswer& take) {
  questions::ItemReader reader(cell_.data->path, spec_.read);
  if (spec_.observe.empty() && cell_.condition->hidden) {
    ask_with_hidden_columns(reader, from, take);
  } else if (spec_.observe.empty()) {
    ask_packed(reader, from, take);
  } else {
    ask_observed(reader, from, trace_folder(run_folder, cell_), take);
  }
}

DecodeOptions Questioner::decoding_of_item(std::size_t number) const {
  DecodeOptions decode = decode_;
  decode.seed += number;
  return decode;
}

void Questioner::ask_alone(Question question, std::size_t number, probe::Probe* probe,
                           const TakeAnswer& take) {
  AnswerRecord record = question.record;
  try {
    const auto machine =
        make_machine(model_.model, decoding_of_item(number), question.prompt.prompt.ids, model_.tokenizer);
    decode::StepMachine* const machines[] = {machine.get()};
    decode::drive(context_, model_.model, machines, nullptr, probe);
    record = answered(std::move(record), *machine);
  } catch (const InputError& error) {
    record.error = error.what();
  }
  take(number, record);
}

void Questioner::ask_packed(questions::ItemReader& reader, std::size_t from, const TakeAnswer& take) {
  const bool diffusion = is_masked_diffusion(model_.model.config().family);
  PrefixCache prefixes(context_, model_.model);
  std::map<std::size_t, Question> under_way;
  std::size_t number = 0;
  const auto next_job = [&]() -> std::optional<decode::StreamJob> {
    while (const auto item = reader.next()) {
      const std::size_t n = number++;
      if (n < from) continue;
      auto question = prepare(*item, n, take);
      if (!question) continue;
      const auto& ids = question->prompt.prompt.ids;
      std::optional<model::KvCache> cache;
      // What a prefix holds would be that of all heads.
      if (!diffusion && cell_.condition->heads_off.empty()) cache = prefixes.start(ids);
      auto machine = make_machine(model_.model, decoding_of_item(n), ids, model_.tokenizer, std::move(cache));
      under_way.emplace(n, std::move(*question));
      return decode::StreamJob{n, std::move(machine)};
    }
    return std::nullopt;
  };
  bool next_failed = false;
  const auto next = [&] {
    next_failed = true;
    auto job = next_job();
    next_failed = false;
    return job;
  };
  const auto& heads_off = cell_.condition->heads_off;
  const auto off = heads_off.find(cell_.model->name);
  std::optional<HeadChangeProbe> mask;
  if (off != heads_off.end())
    mask.emplace(off->second, model_.model.config().layers, model_.model.config().heads);
  probe::Probe* const probe = mask ? &*mask : nullptr;
  for (bool more = true; more;) {
    try {
      decode::stream(
          context_, model_.model, spec_.batch, next,
          [&](std::size_t n, const decode::StepMachine& machine) {
            take(n, answered(std::move(under_way.at(n).record), machine));
            under_way.erase(n);
          },
          probe);
      more = false;
    } catch (const InputError&) {
      // One of the packed questions gives no finite numbers. Asked alone, each says whether it is the one;
      // the others get the answers they would have got.
      if (next_failed) throw;
      for (auto& [n, question] : std::exchange(under_way, {})) ask_alone(std::move(question), n, probe, take);
    }
  }
}

void Questioner::ask_with_hidden_columns(questions::ItemReader& reader, std::size_t from,
                                         const TakeAnswer& take) {
  const ColumnBook book(cell_.condition->column_traces.at(cell_.model->name));
  std::size_t number = 0;
  while (const auto item = reader.next()) {
    const std::size_t n = number++;
    if (n < from) continue;
    auto question = prepare(*item, n, take);
    if (!question) continue;
    ColumnSets sets;
    try {
      sets =
          book.choose(item->id, question->prompt.prompt.ids, *cell_.condition->hidden, spec_.decode.seed + n);
    } catch (const InputError& error) {
      question->record.error = error.what();
      take(n, question->record);
      continue;
    }
    ColumnChangeProbe mask(std::move(sets));
    ask_alone(std::move(*question), n, &mask, take);
  }
}

trace::Manifest Questioner::manifest() const {
  auto manifest = describe_run(model_.model, decode_, "buoy eval");
  manifest.storage = spec_.float16 ? trace::Storage::kF16 : trace::Storage::kF32;
  manifest.probe = dump_json(describe_observed(spec_, *cell_.condition));
  questions::ItemReader reader(cell_.data->path, spec_.read);
  while (const auto item = reader.next()) manifest.sample_ids.push_back(item->id);
  return manifest;
}

void Questioner::ask_observed(questions::ItemReader& reader, std::size_t from,
                              const std::filesystem::path& folder, const TakeAnswer& take) {
  if (!cell_.condition->heads_off.empty() || cell_.condition->hidden)
    throw_usage_error({"`observe`", "conditions that leave the model as it is", cell_.condition->name});
  Request request = spec_;
  request.decode = decode_;
  Tracer tracer(context_, model_.model, request, model_.tokenizer);
  const auto run = manifest();
  auto writer = trace::TraceWriter::resume(folder, run);
  std::size_t number = 0;
  while (const auto item = reader.next()) {
    const std::size_t n = number++;
    const bool answer_kept = n < from;  // its sample may still be missing: failures are forgotten on resuming
    if (answer_kept && writer.has(item->id)) continue;
    const auto fail = [&](std::size_t, const AnswerRecord& record) {
      if (!writer.has(item->id)) writer.write_failure(item->id, record.error);
      if (!answer_kept) take(n, record);
    };
    auto question = prepare(*item, n, fail);
    if (!question) continue;
    std::optional<Traced> traced;
    try {
      traced = tracer.run(question->prompt, n);
    } catch (const UsageError& error) {
      question->record.error = error.what();
    } catch (const InputError& error) {
      question->record.error = error.what();
    }
    if (!traced) {
      fail(n, question->record);
      continue;
    }
    if (!writer.has(item->id)) writer.write(traced->sample);
    if (answer_kept) continue;
    AnswerRecord record = answered(std::move(question->record), *traced->machine);
    const auto file = folder / trace::sample_file(item->id);
    record.attention = attention_features(
        analysis::StoredSource(run, trace::StoredSample(MappedFile(file), file.string(), run)));
    take(n, record);
  }
  writer.finish();
}

}  // namespace buoy::run
