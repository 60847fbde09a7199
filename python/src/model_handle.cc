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

void ModelHandle::Free::operator()(ModelHandle* handle) const {
  if (handle->process_ == ::getpid()) delete handle;
}

ModelHandle::Use::Use(ModelHandle& handle) : handle_(handle) {
  handle.refuse_fork();
  turn_ = std::unique_lock(handle.mutex_);
}

void ModelHandle::refuse_fork() const {
  if (process_ == ::getpid()) return;
  // CUDA itself cannot begin in a fork of a process that used it.
  const char* instead =
      loaded_.model.device() == Device::kCuda
          ? "which has no card: begin it by multiprocessing's spawn, and load the model there"
          : "load the model there";
  throw_usage_error({"model", fmt::format("the process {} that loaded it", process_),
                     fmt::format("its fork {} ({})", ::getpid(), instead)});
}

}  // namespace buoy::python
