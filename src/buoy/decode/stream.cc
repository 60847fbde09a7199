#include "buoy/decode/stream.h"

#include <deque>
#include <vector>

#include "buoy/base/error.h"
#include "buoy/decode/turn.h"

namespace buoy::decode {
namespace {

struct Active {
  StreamJob job;
  Turn turn;  // its next one
};

Active activate(StreamJob job) {
  Turn turn = next_turn(*job.machine, static_cast<std::int64_t>(job.number));
  return {std::move(job), std::move(turn)};
}

Active look_at(StreamJob job) {
  BUOY_CHECK(job.look.has_value());
  if (job.look->before) job.look->before(*job.machine);
  Turn turn = final_look(*job.machine, static_cast<std::int64_t>(job.number), job.look->step);
  return {std::move(job), std::move(turn)};
}

std::int64_t length_of(const StreamJob& job) {
  return std::ssize(job.machine->row());
}

}  // namespace

void stream(const Context& context, model::Model& model, const StreamOptions& options,
            const std::function<std::optional<StreamJob>()>& next,
            const std::function<void(size_t number, const StepMachine& machine)>& finished,
            probe::Probe* probe) {
  std::vector<Active> active;
  // Finished rows that are still to be looked at. They come before new sequences, so that they cannot pile
  // up.
  std::deque<StreamJob> looking;
  std::optional<Active> waiting;  // the first that did not fit any more
  bool more = true;
  for (;;) {
    std::int64_t rows = 0;
    for (const auto& one : active) rows += one.turn.rows();
    const auto fits = [&](std::int64_t extra) { return rows == 0 || rows + extra <= options.token_budget; };
    while (!looking.empty() && fits(length_of(looking.front()))) {
      rows += length_of(looking.front());
      active.push_back(look_at(std::move(looking.front())));
      looking.pop_front();
    }
    while (more && looking.empty() && active.size() < options.most_sequences) {
      if (!waiting) {
        auto job = next();
        more = job.has_value();
        if (!more) break;
        if (probe != nullptr) job->machine->store_apart();
        waiting = activate(std::move(*job));
      }
      if (!fits(waiting->turn.rows())) break;
      rows += waiting->turn.rows();
      active.push_back(std::move(*waiting));
      waiting.reset();
    }
    if (active.empty()) return;

    std::vector<Turn> turns;
    for (auto& one : active) turns.push_back(std::move(one.turn));
    const auto records = take_turns(context, model, turns, probe);
    std::vector<Active> staying;
    for (size_t i = 0; i < active.size(); ++i) {
      StreamJob& job = active[i].job;
      if (job.on_step && !turns[i].looks) job.on_step(records[i]);
      if (!job.machine->finished()) {
        staying.push_back(activate(std::move(job)));
      } else if (job.look && !turns[i].looks) {
        looking.push_back(std::move(job));
      } else {
        finished(job.number, *job.machine);
      }
    }
    active = std::move(staying);
  }
}

}  // namespace buoy::decode
