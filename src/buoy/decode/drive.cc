#include "buoy/decode/drive.h"

#include "buoy/decode/turn.h"

namespace buoy::decode {

void drive(const Context& context, model::Model& model, std::span<StepMachine* const> machines,
           const StepCallback& on_step, probe::Probe* probe) {
  for (StepMachine* machine : machines) {
    if (probe != nullptr) machine->store_apart();
  }
  for (;;) {
    std::vector<Turn> turns;
    std::vector<size_t> numbers;
    for (size_t n = 0; n < machines.size(); ++n) {
      if (machines[n]->finished()) continue;
      turns.push_back(next_turn(*machines[n], static_cast<std::int64_t>(n)));
      numbers.push_back(n);
    }
    if (turns.empty()) return;
    const auto records = take_turns(context, model, turns, probe);
    for (size_t i = 0; i < turns.size() && on_step; ++i) on_step(numbers[i], *turns[i].machine, records[i]);
  }
}

}  // namespace buoy::decode
