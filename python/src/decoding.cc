#include "decoding.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

#include "buoy/base/error.h"
#include "buoy/base/file/json_file.h"
#include "buoy/decode/autoregressive.h"
#include "buoy/observe/recorder.h"
#include "buoy/ops/sampling/sampling.h"
#include "buoy/run/change/changing_probe.h"
#include "request_json.h"

namespace buoy::python {

Decoding::Decoding(std::shared_ptr<ModelHandle> model, std::shared_ptr<const run::Request> request,
                   run::ItemPrompt prompt, std::uint64_t number)
    : model_(std::move(model)), request_(std::move(request)), prompt_(std::move(prompt)) {
  if (request_->changes.top)
    throw_usage_error({run::kTopField,
                       "generate, trace, evaluate or score; here step.scale_keys(step.previous.received"
                       ".topk(5, per=\"head\"), 0)",
                       "a loop that goes back and branches"});
  previous_ = std::make_shared<probe::PreviousStates>(model_->config().layers);
  auto decode = request_->decode;
  decode.seed += number;
  ModelHandle::Use use(*model_);
  machine_ = run::make_machine(use.model(), decode, prompt_.prompt.ids, use.loaded().tokenizer);
  machine_->store_apart();
}

Decoding::Decoding(const Decoding& other)
    : model_(other.model_),
      request_(other.request_),
      traced_(other.traced_),
      prompt_(other.prompt_),
      machine_(other.machine_->clone()),
      previous_(std::make_shared<probe::PreviousStates>(*other.previous_)),
      previous_step_(other.previous_step_),
      edited_(other.edited_) {
  for (const auto& past : other.past_)
    past_.push_back({past.machine ? past.machine->clone() : nullptr, past.changes, past.edited});
}

std::optional<std::int32_t> Decoding::mask_token() const {
  const auto& config = model_->config();
  if (!decode::decodes_masks(config, request_->decode)) return std::nullopt;
  return request_->decode.mask_token ? request_->decode.mask_token : config.mask_token;
}

std::vector<std::int32_t> Decoding::ends() const {
  return run::end_tokens(model_->config(), request_->decode, model_->tokenizer());
}

bool Decoding::finished() const {
  if (machine_->finished()) return true;
  const auto mask = mask_token();
  const auto generated = machine_->generated();
  return edited_ && mask && std::find(generated.begin(), generated.end(), *mask) == generated.end();
}

StepChanges& Decoding::changes() {
  if (ran_)
    throw_usage_error({"step", "changes before its forward",
                       "one that has run: its confidence, tokens or arrays "
                       "were looked at"});
  if (changes_.tokens == 0) {
    const auto& config = model_->config();
    changes_ = StepChanges(config.layers, config.heads,
                           std::ssize(prompt_.prompt.ids) + request_->decode.max_new_tokens);
  }
  return changes_;
}

void Decoding::change(const run::Changes& more) {
  run::check_changes(more, model_->config(), request_->decode);
  add(changes().more, more);
}

observe::Plan Decoding::plan_of(const std::string& observe) const {
  auto plan = observe::parse_plan(observe, request_->layers, "");
  plan.predicted_tokens = request_->predicted_tokens;
  return plan;
}

observe::Subject Decoding::subject(std::int64_t steps) const {
  auto out =
      run::subject_of(model_->config(), *request_, prompt_, std::ssize(machine_->row()), model_->tokenizer());
  out.steps = steps;
  return out;
}

run::ChangedRow Decoding::changed_row() const {
  const auto slots = request_->decode.max_new_tokens;
  run::ChangedRow row{prompt_.regions, std::ssize(prompt_.prompt.ids) + slots,
                      request_->decode.steps.value_or(slots) + 1, request_->decode};
  run::add_answer(row.regions, slots);
  return row;
}

void Decoding::keep_states_before(std::int32_t step, const observe::Plan& plan) {
  const std::int32_t before = step - 1;
  if (!plan.has("residual-norms") || before < 0 || previous_step_ == before) return;
  const auto& past = past_.at(static_cast<size_t>(before));
  const auto machine = past.machine->clone();
  previous_ = std::make_shared<probe::PreviousStates>(model_->config().layers);
  previous_step_ = before - 1;  // what that one would be compared with is not wanted
  std::shared_ptr<HeldSample> unused;
  run(*machine, past.changes, "residual-norms", false, unused);
}

void Decoding::run(decode::StepMachine& machine, const StepChanges& changes, const std::string& observe,
                   bool logits, std::shared_ptr<HeldSample>& observed) {
  const auto& config = model_->config();
  std::optional<observe::Recorder> recorder;
  std::optional<OneStepProbe> one_step;
  if (!observe.empty()) {
    if (!mask_token())
      throw_usage_error({"`observe`",
                         "a masked-diffusion model: an autoregressive row is observed when it is finished",
                         std::string(name_of(config.family))});
    const auto plan = plan_of(observe);
    keep_states_before(machine.step(), plan);
    recorder.emplace(plan, subject(1));
    if (plan.has("residual-norms")) previous_step_ = machine.step();
    one_step.emplace(*recorder, previous_);
  }
  ModelHandle::Use use(*model_);
  probe::Probe* probe = one_step ? &*one_step : nullptr;
  std::optional<run::ChangingProbe> changing;
  run::Changes all;
  if (request_->changes.any() || changes.more.any()) {
    all = request_->changes;
    add(all, changes.more);
    probe = &changing.emplace(all, config, changed_row(), probe);
  }
  std::optional<StepChangeProbe> step_changing;
  if (changes.any()) probe = &step_changing.emplace(changes, probe);

  const decode::Turn turn = decode::next_turn(machine, 0);
  open_ = machine.open_positions();
  rows_.clear();
  for (const auto& forward : turn.forwards) rows_.push_back(forward.logit_rows.size());
  chosen_ = false;
  choices_.clear();
  logits_.clear();
  const auto rules = use.model().device() == Device::kCuda && !logits ? machine.choice_rules() : std::nullopt;
  if (rules && !rules->empty()) {
    const auto choices = use.model().choose(use.context(), turn.forwards, *rules, probe);
    choices_.assign(choices.begin(), choices.end());
    chosen_ = true;
  } else {
    const float* values = use.model().forward(use.context(), turn.forwards, probe);
    size_t count = 0;
    for (const auto rows : rows_) count += rows * static_cast<size_t>(config.vocabulary);
    logits_.assign(values, values + count);
  }
  if (!recorder) return;
  observed = std::make_shared<HeldSample>();
  observed->sample.arrays = recorder->arrays();
}

void Decoding::forward(const std::string& observe) {
  if (ran_) return;
  if (finished()) throw_usage_error({"step", "one that is to come", "a loop that has ended"});
  run(*machine_, changes_, observe, false, observed_);
  ran_ = true;
}

std::shared_ptr<HeldSample> Decoding::observe_again(std::int32_t step, const std::string& observe) {
  if (step < 0 || static_cast<size_t>(step) >= past_.size() || !past_[static_cast<size_t>(step)].machine)
    throw_usage_error({"step", "one that was taken, of a masked-diffusion model", std::to_string(step)});
  // The one under way stays as it is.
  const auto other_owner = branch();
  Decoding& other = *other_owner;
  const auto& past = past_[static_cast<size_t>(step)];
  std::shared_ptr<HeldSample> observed;
  other.machine_ = past.machine->clone();
  other.run(*other.machine_, past.changes, observe, false, observed);
  return observed;
}

const std::vector<ops::RowChoice>& Decoding::proposals() {
  forward("");
  if (!choices_.empty() || open_.empty()) return choices_;
  // As the greedy rules of both loops: the most probable token and its probability.
  const auto vocabulary = static_cast<size_t>(model_->config().vocabulary);
  for (size_t i = 0; i < open_.size(); ++i) {
    const std::span row(logits_.data() + i * vocabulary, vocabulary);
    const size_t best = ops::argmax(std::span<const float>(row));
    choices_.push_back({std::exp(row[best] - ops::log_sum_exp(row)), static_cast<std::int32_t>(best)});
  }
  return choices_;
}

std::span<const float> Decoding::logits() {
  forward("");
  if (chosen_) {
    if (!logits_.empty()) return {logits_.data(), logits_.size()};
    // What was chosen stays: the rule goes on from it.
    std::shared_ptr<HeldSample> unused;
    const auto other_owner = branch();
    Decoding& other = *other_owner;
    other.run(*other.machine_, changes_, "", true, unused);
    logits_ = std::move(other.logits_);
  }
  return {logits_.data(), open_.size() * static_cast<size_t>(model_->config().vocabulary)};
}

void Decoding::stepped() {
  ran_ = false;
  observed_.reset();
  changes_ = {};
  open_.clear();
  choices_.clear();
  chosen_ = false;
}

decode::StepRecord Decoding::advance() {
  Past past{mask_token() ? machine_->clone() : nullptr, changes_, false};
  forward("");
  decode::StepRecord record;
  if (chosen_) {
    record = machine_->advance_chosen(choices_);
  } else {
    std::vector<decode::LogitRows> rows;
    const float* at = logits_.data();
    for (const auto count : rows_) {
      rows.push_back({at, model_->config().vocabulary});
      at += count * static_cast<size_t>(model_->config().vocabulary);
    }
    record = machine_->advance(rows);
  }
  past_.push_back(std::move(past));
  stepped();
  return record;
}

decode::StepRecord Decoding::advance_edited(std::span<const decode::Edit> edits) {
  Past past{mask_token() ? machine_->clone() : nullptr, changes_, true};
  for (const auto& edit : edits) {
    if (edit.token >= model_->config().vocabulary)
      throw_usage_error({"token", fmt::format("an id from 0 to {}", model_->config().vocabulary - 1),
                         std::to_string(edit.token)});
  }
  forward("");
  auto record = machine_->advance_edited(edits);
  edited_ = true;
  past_.push_back(std::move(past));
  stepped();
  return record;
}

void Decoding::back_to(std::int32_t step) {
  if (step < 0 || step > machine_->step())
    throw_usage_error(
        {"step", fmt::format("one that was taken, 0 to {}", machine_->step()), std::to_string(step)});
  const auto at = static_cast<size_t>(step);
  if (auto* autoregressive = dynamic_cast<decode::AutoregressiveMachine*>(machine_.get())) {
    ModelHandle::Use use(*model_);
    autoregressive->rewind(step);
  } else if (at < past_.size()) {
    machine_ = past_[at].machine->clone();
  }
  past_.resize(std::min(at, past_.size()));
  stepped();
}

std::unique_ptr<Decoding> Decoding::branch() const {
  ModelHandle::Use use(*model_);  // a cache on the card is copied
  return std::unique_ptr<Decoding>(new Decoding(*this));
}

std::shared_ptr<HeldSample> Decoding::last_look(const std::string& observe) {
  const auto plan = plan_of(observe);
  if (mask_token()) keep_states_before(machine_->step(), plan);
  previous_step_ = -1;  // the row may change behind this look
  ModelHandle::Use use(*model_);
  observe::Recorder recorder(plan, subject(1));
  OneStepProbe one_step(recorder, previous_);
  run::ChangingProbe changing(request_->changes, model_->config(), changed_row(), &one_step);
  std::vector<model::SequenceInput> inputs = {{machine_->row(), {}}};
  inputs[0].grid = machine_->row_grid();
  inputs[0].address.step = machine_->step();
  inputs[0].prefix = machine_->prompt_length();
  use.model().forward(use.context(), inputs,
                      request_->changes.any() ? static_cast<probe::Probe*>(&changing) : &one_step);
  auto out = std::make_shared<HeldSample>();
  out->sample.arrays = recorder.arrays();
  return out;
}

trace::Sample Decoding::frame() const {
  ModelHandle::Use use(*model_);
  const run::Tracer tracer(use.context(), use.model(), traceable(*request_), use.loaded().tokenizer);
  return tracer.frame(prompt_, *machine_, subject(machine_->step() + 1));
}

std::shared_ptr<const trace::Manifest> Decoding::manifest(const std::string& observe) const {
  if (!traced_) return nullptr;
  auto request = *traced_;
  request.observe = observe;
  request.steps_observed.clear();  // all that ran
  ModelHandle::Use use(*model_);
  auto out = run::make_trace_run(request, use.loaded()).manifest;
  const auto edited = std::count_if(past_.begin(), past_.end(), [](const auto& past) { return past.edited; });
  const auto changed = std::count_if(past_.begin(), past_.end(), [](const auto& past) {
    return past.changes.any() || past.changes.more.any();
  });
  if (edited + changed > 0) {
    Json probe = Json::parse(out.probe);
    probe["changes"].push_back(
        fmt::format("driven from Python: tokens chosen in {} of {} steps, the model changed in {}", edited,
                    past_.size(), changed));
    out.probe = dump_json(probe);
  }
  return std::make_shared<const trace::Manifest>(std::move(out));
}

}  // namespace buoy::python
