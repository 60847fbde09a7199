#pragma once

#include <functional>

#include "decode/step_machine.h"

namespace buoy::decode {

// Called after every step of every sequence; `sequence` is its number in the list handed to drive().
using StepCallback =
    std::function<void(size_t sequence, const StepMachine& machine, const StepRecord& record)>;

// Runs all machines to their end, packing the unfinished ones into one forward per step. Each gives the
// tokens it would give alone. The tap, if any, sees every forward.
void drive(const Context& context, model::Model& model, std::span<StepMachine* const> machines,
           const StepCallback& on_step, probe::LayerTap* tap = nullptr);

}  // namespace buoy::decode
