#include "buoy/decode/stream.h"

#include <vector>

#include "buoy/decode/turn.h"

namespace buoy::decode {
namespace {

struct Active {
  StreamJob job;
  Turn turn;  // its next one
};

Active activate(StreamJob job) {
  Turn turn = next_turn(*job.machine, 0);
  return {std::move(job), std::move(turn)};
}

}  // namespace

void stream(const Context& context, model::Model& model, const StreamOptions& options,
            const std::function<std::optional<StreamJob>()>& next,
            const std::function<void(size_t number, const StepMachine& machine)>& finished,
            probe::Probe* probe) {
  std::vector<Active> active;
  std::optional<Active> waiting;  // the first that did not fit any more
  bool more = true;
  for (;;) {
    std::int64_t rows = 0;
    for (const auto& one : active) rows += one.turn.rows();
    while (more && active.size() < options.most_sequences) {
      if (!waiting) {
        auto job = next();
        more = job.has_value();
        if (!more) break;
        waiting = activate(std::move(*job));
      }
      const std::int64_t extra = waiting->turn.rows();
      if (rows > 0 && rows + extra > options.token_budget) break;
      rows += extra;
      active.push_back(std::move(*waiting));
      waiting.reset();
    }
    if (active.empty()) return;

    std::vector<Turn> turns;
    for (auto& one : active) turns.push_back(std::move(one.turn));
    take_turns(context, model, turns, probe);
    std::vector<Active> staying;
    for (auto& one : active) {
      if (one.job.machine->finished()) {
        finished(one.job.number, *one.job.machine);
      } else {
        staying.push_back(activate(std::move(one.job)));
      }
    }
    active = std::move(staying);
  }
}

}  // namespace buoy::decode
