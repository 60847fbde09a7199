#include "buoy/app/options/decode_options.h"

#include "buoy/app/options/flags.h"

namespace buoy::app {
namespace {

// Help has a heading for the options of masked diffusion and one for those of sampling.
std::string group_of(decode::Loops loops) {
  if (loops == decode::kAll) return "Options";
  return (loops & decode::kAutoregressive) != 0 ? "Sampling" : "Diffusion models";
}

Option* add(Command& command, const DecodeOption& option, bool& value) {
  return command.add_flag(flag_of(option.key), value, std::string(option.help));
}

template <typename Value>
Option* add(Command& command, const DecodeOption& option, Value& value) {
  auto* made = command.add_option(flag_of(option.key), value, std::string(option.help));
  if constexpr (std::is_same_v<Value, std::vector<std::int32_t>>) made->delimiter(',');
  const auto& bounds = option.bounds;
  // Bounds above are looked at with the model.
  if (bounds.least == 0 && !bounds.above_least) made->nonnegative();
  if (bounds.least == 1 || (bounds.least == 0 && bounds.above_least)) made->positive();
  return made;
}

}  // namespace

void add_decode_options(Command& command, DecodeOptions& options) {
  for (const auto& option : decode::kDecodeOptions) {
    std::visit(
        [&](const auto member) { add(command, option, options.*member)->group(group_of(option.loops)); },
        option.field);
  }
}

}  // namespace buoy::app
