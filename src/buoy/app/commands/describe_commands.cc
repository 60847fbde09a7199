#include "buoy/app/commands/describe_commands.h"

#include <nlohmann/json.hpp>

namespace buoy::app {
namespace {

Json describe(const Command& command) {
  Json out = {{"name", command.name()}, {"options", Json::array()}, {"examples", Json::array()}};
  for (const auto& option : command.options()) {
    out["options"].push_back({{"name", option->name()},
                              {"type", option->is_flag() ? "" : option->type()},
                              {"help", option->help()},
                              {"aliases", option->aliases()}});
  }
  for (const auto& example : command.examples()) out["examples"].push_back(example.call);
  return out;
}

}  // namespace

Json describe_commands(const Command& root) {
  Json out = describe(root);
  out["commands"] = Json::array();
  for (const auto& command : root.subcommands()) out["commands"].push_back(describe(*command));
  return out;
}

}  // namespace buoy::app
