#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "buoy/decode/step_machine.h"

namespace buoy::decode {

struct StreamOptions {
  std::int64_t token_budget = 1024;  // rows of one packed forward; a longer sequence runs alone
  size_t most_sequences = 256;       // at a time: every one holds its row, or its keys and values
};

// One more forward of a sequence that has finished, over its whole row, so that a probe may see it.
struct FinalLook {
  std::int64_t step = 0;                           // its number, for the probe
  std::function<void(const StepMachine&)> before;  // just before it, when the row is known; may be none
};

struct StreamJob {
  size_t number;  // handed back with the result; a probe knows the sequence by it
  std::unique_ptr<StepMachine> machine;
  std::optional<FinalLook> look = std::nullopt;
  std::function<void(const StepRecord&)> on_step = nullptr;  // behind every step; may be none
};

// Runs an endless supply of sequences: each step packs as many as the budget takes, those that have finished
// leave between steps and the next ones join. Each gives the tokens it would give alone. `next` returns
// nothing at the end; `finished` is called in the order in which sequences finish.
void stream(const Context& context, model::Model& model, const StreamOptions& options,
            const std::function<std::optional<StreamJob>()>& next,
            const std::function<void(size_t number, const StepMachine& machine)>& finished,
            probe::Probe* probe = nullptr);

}  // namespace buoy::decode
