#include "buoy/run/block_run.h"

#include "buoy/base/error.h"
#include "buoy/base/field_name.h"
#include "buoy/decode/block_families.h"
#include "buoy/decode/turn.h"
#include "buoy/run/decoding.h"
#include "buoy/trace/schema.h"

namespace buoy::run {
namespace {

std::uint8_t stored(trace::StepKind kind) {
  return static_cast<std::uint8_t>(kind);
}

trace::StepKind kind_in_trace(decode::StepKind kind) {
  switch (kind) {
    case decode::StepKind::kPrefill:
      return trace::StepKind::kPrompt;
    case decode::StepKind::kFinish:
      return trace::StepKind::kFinish;
    case decode::StepKind::kDenoise:
      break;
  }
  return trace::StepKind::kDenoise;
}

}  // namespace

BlockNotes::BlockNotes(const decode::StepMachine& machine) : machine_(machine) {}

void BlockNotes::runs(std::int64_t forward, const probe::LayerExtent& extent) {
  if (2 * forward < std::ssize(run_.rows_run)) return;
  BUOY_CHECK(2 * forward == std::ssize(run_.rows_run) && forward == std::ssize(run_.kinds));
  run_.rows_run.push_back(static_cast<std::int32_t>(extent.key_rows - extent.query_rows));
  run_.rows_run.push_back(static_cast<std::int32_t>(extent.key_rows));
}

void BlockNotes::ran(const decode::StepRecord& record) {
  const auto forward = static_cast<std::int32_t>(run_.kinds.size());
  run_.kinds.push_back(stored(kind_in_trace(record.kind)));
  BUOY_CHECK(run_.rows_run.size() == 2 * run_.kinds.size());
  for (const auto& one : record.reveals)
    run_.reveals.insert(run_.reveals.end(), {forward, one.position, one.token});
}

observe::BlockRun BlockNotes::finish(bool looks) const {
  observe::BlockRun run = run_;
  const auto grid = machine_.grid().value(), denoised = machine_.denoised_grid().value();
  run.block = grid.block;
  run.origin = grid.origin;
  run.denoised_block = denoised.block;
  run.denoised_origin = denoised.origin;
  const std::int64_t tokens = machine_.decoded_length();
  run.tokens.assign(machine_.row().begin(), machine_.row().begin() + tokens);
  run.revealed_at.assign(static_cast<size_t>(tokens), -1);
  for (size_t i = 0; i < run.reveals.size(); i += 3)
    run.revealed_at[static_cast<size_t>(run.reveals[i + 1])] = run.reveals[i];
  if (looks) {
    run.kinds.push_back(stored(trace::StepKind::kFinalRow));
    run.rows_run.insert(run.rows_run.end(), {0, static_cast<std::int32_t>(tokens)});
  }
  return run;
}

void require_observable(const DecodeOptions& decode, const decode::StepMachine& machine) {
  if (machine.observable()) return;
  throw_usage_error({decode.block_cache ? field_name("block_cache") : field_name("bidirectional_context"),
                     "off where forwards are observed", "on"});
}

std::shared_ptr<const observe::BlockRun> largest_block_run(const ModelConfig& config,
                                                           const Request& request) {
  if (!decode::decodes_blocks(config, request.decode)) return nullptr;
  auto run = std::make_shared<observe::BlockRun>();
  const auto slots = static_cast<size_t>(std::max(request.decode.max_new_tokens, 0));
  run->block = config.block_length.value_or(1);
  // The prompt and the final row beside what decoding takes.
  run->kinds.resize(static_cast<size_t>(forwards_of(config.family, request.decode)) + 2);
  if (request.final_row) run->kinds.back() = stored(trace::StepKind::kFinalRow);
  run->denoised_block = run->block;
  for (size_t forward = 0; forward < run->kinds.size(); ++forward)
    run->rows_run.insert(run->rows_run.end(), {0, 1});
  // A token that may be edited may be written by every forward.
  const bool edits = decode::loop_of(config, request.decode) == decode::kLlada21;
  run->reveals.resize(3 * (edits ? run->kinds.size() * static_cast<size_t>(run->block) : slots));
  return run;
}

}  // namespace buoy::run
