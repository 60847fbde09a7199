#include "buoy/app/options/change_options.h"

namespace buoy::app {

Option* add_top_of_option(Command& command, std::string& of) {
  return command
      .add_option(
          "--hide-top-of", of,
          "what hidden keys received it in: step-before (default), rule:NAME (the same, of keys that a\n"
          "floating rule selects) or trace:FOLDER (the same step of another trace; not eval)")
      ->type_name("SOURCE");
}

Option* add_hide_control_option(Command& command, std::string& control) {
  return command
      .add_option("--hide-control", control,
                  "hides others in their place: random (as many) or mass (that receive as much); eval:\n"
                  "besides them, one or both")
      ->type_name("KIND");
}

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
  command
      .add_option("--scale-mlp", options.mlps,
                  "factor on what the MLPs of these layers add to the residual stream: 3,4=0 (left out),\n"
                  "8-15/0-3=0.5 (at these steps); may be given again")
      ->type_name("LAYERS[/STEPS]=FACTOR")
      ->group(group);
  command
      .add_option(
          "--steer", options.steer,
          "adds a vector (.npy, [hidden] or [positions, hidden]) to the residual stream behind layers\n"
          "(:pre before them, :mid before their MLP), at positions, all, or traces: a region:\n"
          "all@12=2*direction.npy, answer@12:mid/0-3=direction.npy; may be given again")
      ->type_name("WHERE@LAYERS[:POINT][/STEPS]=[FACTOR*]FILE")
      ->group(group);
  command
      .add_option("--patch", options.patch,
                  "puts vectors in the place of the residual stream, as --steer adds them:\n"
                  "5@12=state.npy; may be given again")
      ->type_name("WHERE@LAYERS[:POINT][/STEPS]=FILE")
      ->group(group);
  command
      .add_option("--hide-top", options.top.keys,
                  "hides the K keys that receive most, for every head, layer and step anew: 5,\n"
                  "5@16-31 (in these layers), 1@3.1,4.0/1-8=0.1 (heads, steps, factor)")
      ->type_name("K[@LAYERS][/STEPS][=FACTOR]")
      ->group(group);
  add_top_of_option(command, options.top.of)->group(group);
  add_hide_control_option(command, options.top.control)->group(group);
}

}  // namespace buoy::app
