#pragma once

#include <memory>

#include "buoy/decode/step_machine.h"
#include "buoy/observe/subject.h"
#include "buoy/run/request.h"

namespace buoy::run {

// How many forwards a loop of blocks takes, and how long its row gets, is known when it has run: so who wants
// to look on lets a machine run first. `looks`: the final row is looked at behind them. `changing` makes the
// changes that will be made again; may be null.
observe::BlockRun note_block_run(const Context& context, model::Model& model, decode::StepMachine& machine,
                                 bool looks, probe::Probe* changing = nullptr);

// UsageError for a loop of blocks whose forwards are none of the row: rows over stale keys, a prompt as one
// block.
void require_observable(const DecodeOptions& decode, const decode::StepMachine& machine);

// As many of everything as there can be, before anything ran; null where the options decode no blocks.
std::shared_ptr<const observe::BlockRun> largest_block_run(const ModelConfig& config, const Request& request);

}  // namespace buoy::run
