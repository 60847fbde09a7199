#pragma once

#include <functional>

#include "buoy/decode/step_machine.h"

namespace buoy::decode {

// Called after every step of every sequence; `sequence` is its number in the list handed to drive().
using StepCallback =
    std::function<void(size_t sequence, const StepMachine& machine, const StepRecord& record)>;

// Runs all machines to their end, packing the unfinished ones into one forward per step. Each gives the
// tokens it would give alone. A probe, if any, is asked about every forward:
// its address holds the number in the list, the step, and branch 1 for the unconditional pass of guidance.
void drive(const Context& context, model::Model& model, std::span<StepMachine* const> machines,
           const StepCallback& on_step, probe::Probe* probe = nullptr);

}  // namespace buoy::decode
