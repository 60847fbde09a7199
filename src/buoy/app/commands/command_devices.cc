#include <fmt/format.h>

#include "buoy/app/commands/commands.h"
#include "buoy/base/counted.h"
#include "buoy/base/error.h"
#include "buoy/base/progress.h"
#include "buoy/tensor/device.h"
#include "buoy/tensor/thread_pool.h"

namespace buoy::app {

void add_devices(Command& app) {
  auto* command = app.add_subcommand("devices", "what this build can run on");
  command->examples({{"buoy devices", ""}});
  command->callback([] {
    fmt::print("cpu   {}\n", counted(static_cast<std::uint64_t>(available_threads()), "thread"));
    try {
      const auto devices = usable_devices();
      for (size_t i = 0; i < devices.size(); ++i) {
        const auto& d = devices[i];
        fmt::print("cuda:{} {}, compute capability {}.{}, {} ({} free){}\n", i, d.name, d.major, d.minor,
                   describe_bytes(d.memory_bytes), describe_bytes(d.free_bytes),
                   can_run_models(d) ? "" : "; too old: 8.0 (Ampere) or later is needed");
      }
      if (devices.empty()) fmt::print("cuda  no device found\n");
    } catch (const UsageError& absent) {
      fmt::print("cuda  {}\n", absent.what());
    }
  });
}

}  // namespace buoy::app
