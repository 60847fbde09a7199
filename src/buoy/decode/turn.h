#pragma once

#include <span>
#include <vector>

#include "buoy/decode/step_machine.h"

namespace buoy::decode {

// One sequence about to take a step: its machine, the forwards the machine asked for, and the number by
// which a probe knows it.
struct Turn {
  StepMachine* machine;
  std::vector<model::SequenceInput> forwards;
  bool looks = false;  // at a finished row: nothing is chosen, and the machine stays as it is

  std::int64_t rows() const;  // in the packed forward
};

// Asks the machine for its next forwards. `sequence` is the probe's number for it; branch 1 is the
// unconditional pass of guidance.
Turn next_turn(StepMachine& machine, std::int64_t sequence);
// One forward over the whole row of a machine that has finished, for a probe; its number is `step`.
Turn final_look(StepMachine& machine, std::int64_t sequence, std::int64_t step);

// Runs the forwards of all turns packed into one and lets every machine advance; record i is of turn i, an
// empty one of a look.
std::vector<StepRecord> take_turns(const Context& context, model::Model& model, std::span<const Turn> turns,
                                   probe::Probe* probe);

}  // namespace buoy::decode
