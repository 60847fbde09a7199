#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "buoy/run/loaded_model.h"
#include "buoy/tensor/context.h"

namespace buoy::python {

// A loaded model with the threads it computes on. Python's threads take turns.
class ModelHandle {
 public:
  ModelHandle(run::LoadedModel loaded, int threads);

  // Of the last who holds it. A fork has neither the threads nor the card that there are to end and to free:
  // it leaves both to the process that loaded the model.
  struct Free {
    void operator()(ModelHandle* handle) const;
  };
  static std::shared_ptr<ModelHandle> make(run::LoadedModel loaded, int threads) {
    return {new ModelHandle(std::move(loaded), threads), Free{}};
  }

  // Its one user at a time. The GIL must not be held: whoever has the model may want it. UsageError in a fork
  // of the process that loaded it, which has neither its threads nor its card.
  class Use {
   public:
    explicit Use(ModelHandle& handle);
    run::LoadedModel& loaded() { return handle_.loaded_; }
    model::Model& model() { return handle_.loaded_.model; }
    const Context& context() { return handle_.context_; }

   private:
    ModelHandle& handle_;
    std::unique_lock<std::mutex> turn_;
  };

  // What never changes.
  const ModelConfig& config() const { return loaded_.model.config(); }
  const model::Model& model() const { return loaded_.model; }
  const std::optional<text::Tokenizer>& tokenizer() const { return loaded_.tokenizer; }
  const text::Tokenizer& need_tokenizer() const { return run::need_tokenizer(loaded_.tokenizer, folder()); }
  const std::filesystem::path& folder() const { return loaded_.model.checkpoint().folder(); }
  // For objects that keep references; whoever computes with them holds a Use.
  run::LoadedModel& loaded() { return loaded_; }
  const Context& context() const { return context_; }
  int threads() const { return count_; }

 private:
  void refuse_fork() const;

  run::LoadedModel loaded_;
  int count_;
  ThreadPool threads_;
  Context context_;
  pid_t process_;
  std::mutex mutex_;
};

}  // namespace buoy::python
