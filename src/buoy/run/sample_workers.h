#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "buoy/run/loaded_model.h"
#include "buoy/tensor/context.h"

namespace buoy::run {

// A forward of a small model is over before many threads have found their part of it: samples then run side
// by side, each by few threads, and share the weights. What comes out is the same to the bit.
//
// The rule: on the CPU, where parameters times tokens of a forward are fewer than this, there are as many
// workers as threads and samples allow, and threads are dealt out evenly among them.
inline constexpr double kSmallForward = 16e9;

// How many samples run at once. `tokens` are those of one forward.
int samples_at_once(const model::Model& model, int threads, std::size_t samples, std::int64_t tokens);

// Who runs samples side by side: each with threads and a model of its own. One alone is who asked.
class SampleWorkers {
 public:
  SampleWorkers(const Context& context, LoadedModel& model, int count);

  int count() const { return workers_.empty() ? 1 : static_cast<int>(workers_.size()); }
  const Context& context(int worker) const;
  LoadedModel& model(int worker);

  // Calls work(worker) of every worker on a thread of its own; returns when all have returned. The first
  // exception is thrown here, when the others have returned too.
  void run(const std::function<void(int worker)>& work);

  // For every number below `count`, in this order: some worker prepares it, and the task that it returns is
  // run when those of all smaller numbers were. Tasks run one at a time. An exception of either is thrown
  // here; of what comes behind it in the order nothing is run.
  using Task = std::function<void()>;
  void run_in_order(std::size_t count, const std::function<Task(std::size_t number, int worker)>& prepare);

 private:
  struct Worker {
    Worker(int count, const LoadedModel& shared)
        : threads(count), context{threads}, model{shared.model.sibling(), shared.tokenizer} {}

    ThreadPool threads;
    Context context;
    LoadedModel model;
  };

  const Context& context_;
  LoadedModel& model_;
  std::vector<std::unique_ptr<Worker>> workers_;  // none: who asked is the only one
};

}  // namespace buoy::run
