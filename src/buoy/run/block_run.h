#pragma once

#include <memory>

#include "buoy/decode/step_machine.h"
#include "buoy/observe/subject.h"
#include "buoy/probe/probe.h"
#include "buoy/run/request.h"

namespace buoy::run {

// Notes the forwards of a loop of blocks while it runs: how many they are, and how long the row gets, is
// known when it has ended.
class BlockNotes {
 public:
  // `machine` stays until the end.
  explicit BlockNotes(const decode::StepMachine& machine);

  // The rows of a forward, before it or while it runs; may be said again.
  void runs(std::int64_t forward, const probe::LayerExtent& extent);
  void ran(const decode::StepRecord& record);
  // `looks`: the final row is looked at behind them.
  observe::BlockRun finish(bool looks) const;

 private:
  const decode::StepMachine& machine_;
  observe::BlockRun run_;
};

// UsageError for a loop of blocks whose forwards are none of the row: rows over stale keys, a prompt as one
// block.
void require_observable(const DecodeOptions& decode, const decode::StepMachine& machine);

// As many of everything as there can be, before anything ran; null where the options decode no blocks.
std::shared_ptr<const observe::BlockRun> largest_block_run(const ModelConfig& config, const Request& request);

}  // namespace buoy::run
