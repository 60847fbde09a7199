#include "buoy/run/ask/packed_asker.h"

#include <algorithm>
#include <utility>

#include "buoy/base/error.h"

namespace buoy::run {

PackedAsker::PackedAsker(const Context& context, model::Model& model, const Questioner& questioner,
                         const decode::StreamOptions& batch, TakeAnswer take)
    : context_(context),
      model_(model),
      questioner_(questioner),
      batch_(batch),
      take_(std::move(take)),
      prefixes_(context, model) {
  const QuestionCell& cell = questioner.cell();
  const auto& config = model.config();
  if (const auto off = cell.condition->heads_off.find(cell.model->name);
      off != cell.condition->heads_off.end())
    heads_off_.emplace(off->second, config.layers, config.heads);
  if (cell.condition->top) top_keys_.emplace(*cell.condition->top, config);
  if (const auto request = questioner.observed())
    watched_.emplace(
        context, config, *request, questioner.tokenizer(),
        [this](std::size_t number, WatchedOutcome outcome) { settled(number, std::move(outcome)); });
}

probe::Probe* PackedAsker::probe() {
  if (watched_) return &*watched_;
  if (top_keys_) return &*top_keys_;
  return heads_off_ ? &*heads_off_ : nullptr;
}

void PackedAsker::hand_over(std::size_t number, const AnswerRecord& record) {
  outside_ = true;
  take_(number, record);
  outside_ = false;
}

void PackedAsker::failed(std::size_t number, const std::string& error) {
  if (top_keys_) top_keys_->drop(static_cast<std::int64_t>(number));
  AnswerRecord record = std::move(under_way_.extract(number).mapped().question.record);
  record.error = error;
  hand_over(number, record);
}

decode::StreamJob PackedAsker::begin(Asked given, bool from_prefix) {
  const std::size_t number = given.question.number;
  Asked& asked = under_way_.insert_or_assign(number, std::move(given)).first->second;
  const auto& ids = asked.question.prompt.prompt.ids;
  std::optional<model::KvCache> cache;
  // Prompts share their beginning where what follows does not change it. What is kept would be that of all
  // heads.
  const auto& config = model_.config();
  const bool shared =
      !decode::decodes_masks(config, questioner_.decode()) && mask_of(config) == AttentionMaskKind::kCausal;
  if (from_prefix && shared && questioner_.cell().condition->heads_off.empty()) cache = prefixes_.start(ids);
  decode::StreamJob job{number, questioner_.machine(model_, asked.question, std::move(cache))};
  if (top_keys_) {
    const auto& decode = questioner_.decode();
    top_keys_->begin(static_cast<std::int64_t>(number),
                     {.id = asked.question.record.id,
                      .prompt = ids,
                      .tokens = std::ssize(ids) + decode.max_new_tokens,
                      .steps = decode.steps.value_or(decode.max_new_tokens),
                      .seed = decode.seed + number,
                      .left_to_right = !decode::decodes_masks(config, decode)});
  }
  if (!watched_) return job;
  job.look = watched_->begin({number, asked.question.prompt, *job.machine, asked.blocks}, asked.as_f32);
  job.on_step = [this, number](const decode::StepRecord& record) { watched_->ran(number, record); };
  return job;
}

std::optional<Question> PackedAsker::given(const Next& next) {
  outside_ = true;
  auto question = next();
  outside_ = false;
  return question;
}

// By the first question: the others are taken to be as long. A question that cannot be asked says so later.
void PackedAsker::bound_what_is_held(const Next& next) {
  if (!watched_ || !watched_->decodes_blocks()) return;
  first_ = given(next);
  if (!first_) return;
  try {
    const auto machine = questioner_.machine(model_, *first_, std::nullopt);
    batch_.most_sequences =
        std::min(batch_.most_sequences, watched_->most_at_once(first_->prompt, *machine, beside_));
  } catch (const UsageError&) {
  }
}

std::optional<decode::StreamJob> PackedAsker::next_job(const Next& next) {
  for (;;) {
    // First those that are asked again: the answers behind them wait for their turn in the file.
    const bool again = !once_more_.empty();
    Asked asked;
    if (again) {
      asked = std::move(ended_.extract(once_more_.front()).mapped());
      once_more_.pop_front();
    } else {
      auto question = first_ ? std::exchange(first_, std::nullopt) : given(next);
      if (!question) return std::nullopt;
      asked.question = std::move(*question);
    }
    const std::size_t number = asked.question.number;
    try {
      return begin(std::move(asked), !again);
    } catch (const UsageError& error) {
      failed(number, error.what());
    }
  }
}

void PackedAsker::ask(const Next& next) {
  bound_what_is_held(next);
  for (bool more = true; more;) {
    try {
      decode::stream(
          context_, model_, batch_, [&] { return next_job(next); },
          [&](std::size_t number, const decode::StepMachine& machine) { finished(number, machine); },
          probe());
      more = false;
    } catch (const InputError&) {
      // One of the packed questions gives no finite numbers. Asked alone, each says whether it is the one.
      if (outside_) throw;
      if (watched_) watched_->drop();
      for (auto& [number, asked] : std::exchange(under_way_, {})) ask_alone(std::move(asked), probe());
    }
  }
  if (!watched_) return;
  watched_->finish();
  while (!once_more_.empty()) {
    for (const auto number : std::exchange(once_more_, {}))
      ask_alone(std::move(ended_.extract(number).mapped()), probe());
    watched_->finish();
  }
}

void PackedAsker::ask_alone(Asked asked, probe::Probe* probe) {
  const std::size_t number = asked.question.number;
  const auto fail = [&](const Error& error) {
    if (watched_) watched_->drop();
    failed(number, error.what());
  };
  try {
    std::optional<decode::StreamJob> job = begin(std::move(asked), false);
    decode::stream(
        context_, model_, batch_, [&] { return std::exchange(job, std::nullopt); },
        [&](std::size_t n, const decode::StepMachine& machine) { finished(n, machine); }, probe);
  } catch (const InputError& error) {
    if (outside_) throw;
    fail(error);
  } catch (const UsageError& error) {
    if (outside_) throw;
    fail(error);
  }
}

void PackedAsker::finished(std::size_t number, const decode::StepMachine& machine) {
  Asked& asked = under_way_.at(number);
  if (top_keys_) {
    try {
      top_keys_->end(static_cast<std::int64_t>(number));
    } catch (const UsageError& error) {
      return failed(number, error.what());
    } catch (const InputError& error) {
      return failed(number, error.what());
    }
  }
  asked.answer = questioner_.answered(asked.question.record, machine);
  auto node = under_way_.extract(number);
  if (!watched_) {
    hand_over(number, asked.answer);
    return;
  }
  ended_.insert(std::move(node));
  watched_->end(number);
}

void PackedAsker::settled(std::size_t number, WatchedOutcome outcome) {
  Asked& asked = ended_.at(number);
  if (outcome.blocks || (outcome.error.empty() && !outcome.exceeding.empty())) {
    if (outcome.blocks) asked.blocks = std::move(outcome.blocks);
    asked.as_f32.merge(outcome.exceeding);
    once_more_.push_back(number);
    return;
  }
  AnswerRecord record = outcome.error.empty() ? std::move(asked.answer) : std::move(asked.question.record);
  record.error = outcome.error;
  record.attention = std::move(outcome.features);
  ended_.erase(number);
  hand_over(number, record);
}

}  // namespace buoy::run
