#include "buoy/app/options/change_options.h"

namespace buoy::app {

void add_change_options(Command& command, ChangeOptions& options) {
  const std::string group = "Changes to the model (docs/changes.md)";
  command
      .add_option("--scale-heads", options.heads,
                  "factor on the output of heads, as in 3.1,4.0=0 (layer.head); may be given again")
      ->type_name("HEADS=FACTOR")
      ->group(group);
  command
      .add_option("--scale-keys", options.keys,
                  "factor on the attention that positions get (traces: or a region), before it is\n"
                  "normalised: 0=0.1, 0,5-8@16-31=0 (in these layers), 0/0-3=0 (at these steps)")
      ->type_name("WHERE[@LAYERS][/STEPS]=FACTOR")
      ->group(group);
}

run::Changes parse_changes(const ChangeOptions& options) {
  return run::parse_changes(options.heads, options.keys);
}

}  // namespace buoy::app
