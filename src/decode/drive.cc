#include "decode/drive.h"

namespace buoy::decode {

void drive(const Context& context, model::Model& model, std::span<StepMachine* const> machines,
           const StepCallback& on_step, probe::Probe* probe) {
  const std::int64_t vocabulary = model.config().vocabulary;
  for (;;) {
    struct Turn {
      size_t sequence;
      size_t forwards;
    };
    std::vector<Turn> turns;
    std::vector<model::SequenceInput> inputs;
    for (size_t n = 0; n < machines.size(); ++n) {
      if (machines[n]->finished()) continue;
      auto forwards = machines[n]->next_forwards();
      for (size_t branch = 0; branch < forwards.size(); ++branch) {
        forwards[branch].address = {static_cast<std::int64_t>(n), machines[n]->step(),
                                    static_cast<std::int64_t>(branch), 0};
      }
      turns.push_back({n, forwards.size()});
      inputs.insert(inputs.end(), forwards.begin(), forwards.end());
    }
    if (turns.empty()) return;

    const float* logits = model.forward(context, inputs, probe);
    std::vector<LogitRows> rows;
    for (const auto& input : inputs) {
      rows.push_back({logits, vocabulary});
      logits += static_cast<std::int64_t>(input.logit_rows.size()) * vocabulary;
    }
    size_t first = 0;
    for (const auto& turn : turns) {
      const StepRecord record =
          machines[turn.sequence]->advance(std::span(rows).subspan(first, turn.forwards));
      first += turn.forwards;
      if (on_step) on_step(turn.sequence, *machines[turn.sequence], record);
    }
  }
}

}  // namespace buoy::decode
