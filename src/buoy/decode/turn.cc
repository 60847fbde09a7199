#include "buoy/decode/turn.h"

#include <optional>

#include "buoy/base/error.h"

namespace buoy::decode {

std::int64_t Turn::rows() const {
  std::int64_t sum = 0;
  for (const auto& forward : forwards) sum += static_cast<std::int64_t>(forward.tokens.size());
  return sum;
}

Turn next_turn(StepMachine& machine, std::int64_t sequence) {
  Turn turn{&machine, machine.next_forwards()};
  for (size_t branch = 0; branch < turn.forwards.size(); ++branch) {
    turn.forwards[branch].address = {sequence, machine.forward(), static_cast<std::int64_t>(branch), 0};
    turn.forwards[branch].prefix = machine.prompt_length();
  }
  return turn;
}

Turn final_look(StepMachine& machine, std::int64_t sequence, std::int64_t step) {
  Turn turn{
      &machine, {{std::span(machine.row()).first(static_cast<size_t>(machine.decoded_length())), {}}}, true};
  turn.forwards[0].grid = machine.row_grid();
  turn.forwards[0].address = {sequence, step, 0, 0};
  turn.forwards[0].prefix = machine.prompt_length();
  return turn;
}

namespace {

// The rules of all turns in order, when each that chooses has some.
std::optional<std::vector<ops::ChoiceRule>> joint_rules(std::span<const Turn> turns) {
  std::vector<ops::ChoiceRule> all;
  for (const auto& turn : turns) {
    if (turn.looks) continue;
    const auto rules = turn.machine->choice_rules();
    if (!rules) return std::nullopt;
    all.insert(all.end(), rules->begin(), rules->end());
  }
  return all;
}

// On a GPU, where only what was chosen comes back.
std::vector<StepRecord> advance_chosen(std::span<const Turn> turns, std::span<const ops::RowChoice> choices) {
  std::vector<StepRecord> records;
  for (const auto& turn : turns) {
    if (turn.looks) {
      records.emplace_back();
      continue;
    }
    size_t count = 0;
    for (const auto& forward : turn.forwards) count += forward.logit_rows.size();
    records.push_back(turn.machine->advance_chosen(choices.first(count)));
    choices = choices.subspan(count);
  }
  return records;
}

}  // namespace

std::vector<StepRecord> take_turns(const Context& context, model::Model& model, std::span<const Turn> turns,
                                   probe::Probe* probe) {
  for (const auto& turn : turns) {
    if (probe == nullptr || turn.looks) continue;
    const bool parts = turn.machine->grid().has_value();
    if (!turn.machine->observable() || (parts && !probe->takes_parts()))
      throw_usage_error({"observation", "a decoding whose forwards can be observed or changed so",
                         "block decoding, which runs a block at a time"});
  }
  std::vector<model::SequenceInput> inputs;
  for (const auto& turn : turns) inputs.insert(inputs.end(), turn.forwards.begin(), turn.forwards.end());
  if (model.device() == Device::kCuda) {
    if (const auto rules = joint_rules(turns); rules && !rules->empty())
      return advance_chosen(turns, model.choose(context, inputs, *rules, probe));
  }
  const std::int64_t vocabulary = model.config().vocabulary;
  const float* logits = model.forward(context, inputs, probe);
  std::vector<LogitRows> rows;
  for (const auto& input : inputs) {
    rows.push_back({logits, vocabulary});
    logits += static_cast<std::int64_t>(input.logit_rows.size()) * vocabulary;
  }
  std::vector<StepRecord> records;
  size_t first = 0;
  for (const auto& turn : turns) {
    records.push_back(turn.looks
                          ? StepRecord{}
                          : turn.machine->advance(std::span(rows).subspan(first, turn.forwards.size())));
    first += turn.forwards.size();
  }
  return records;
}

}  // namespace buoy::decode
