#include "buoy/app/options/model_folder.h"

#include <fmt/format.h>

#include "buoy/base/say.h"
#include "buoy/checkpoint/hub_cache.h"

namespace buoy::app {

void add_model_options(Command& command, ModelOptions& options) {
  add_model_option(command, options.folder)->required();
  add_threads_option(command, options.threads);
  add_device_option(command, options.device);
}

void add_threads_option(Command& command, int& threads) {
  command.add_option("--threads", threads, "threads to use (default: all cores)")->range(0, 4096);
}

void add_device_option(Command& command, std::string& device) {
  command
      .add_option(
          "--device", device,
          "where models run: cpu, cuda (an NVIDIA GPU), cuda:K (its K-th), or auto (default: cuda if\n"
          "there is one); trace, watch, eval and study also cuda:0,2 and cuda:all: a process for each card")
      ->type_name("DEVICE");
}

int thread_count(const ModelOptions& options) {
  return options.threads > 0 ? options.threads : default_threads();
}

run::LoadedModel load_model(const ModelOptions& options) {
  const Device device = device_from_name(options.device);
  auto loaded = run::load_model(find_model(options.folder), device);
  const std::string stored = loaded.model.stored_types();
  if (device == Device::kCuda && stored != "BF16")
    say("note: weights stored as {} are used as BF16 on the device\n", stored);
  return loaded;
}

}  // namespace buoy::app
