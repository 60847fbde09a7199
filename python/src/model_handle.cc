#include "model_handle.h"

#include <fmt/format.h>
#include <unistd.h>

#include "buoy/base/error.h"

namespace buoy::python {

ModelHandle::ModelHandle(run::LoadedModel loaded, int threads)
    : loaded_(std::move(loaded)),
      count_(threads > 0 ? threads : available_threads()),
      threads_(count_),
      context_{threads_},
      process_(::getpid()) {}

ModelHandle::Use::Use(ModelHandle& handle) : handle_(handle) {
  handle.refuse_fork();
  turn_ = std::unique_lock(handle.mutex_);
}

void ModelHandle::refuse_fork() const {
  if (process_ == ::getpid()) return;
  throw_usage_error({"model", fmt::format("the process {} that loaded it", process_),
                     fmt::format("its fork {} (load the model there)", ::getpid())});
}

}  // namespace buoy::python
