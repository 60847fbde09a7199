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

  std::int64_t rows() const;  // in the packed forward
};

// Asks the machine for its next forwards. `sequence` is the probe's number for it; branch 1 is the
// unconditional pass of guidance.
Turn next_turn(StepMachine& machine, std::int64_t sequence);

// Runs the forwards of all turns packed into one and lets every machine advance; record i is of turn i.
std::vector<StepRecord> take_turns(const Context& context, model::Model& model, std::span<const Turn> turns,
                                   probe::Probe* probe);

}  // namespace buoy::decode
