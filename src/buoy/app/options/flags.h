#pragma once

#include <string>
#include <string_view>

namespace buoy::app {

class Command;

// Libraries speak of fields of what is asked ("gold_position"), the command line of flags
// ("--gold-position").
std::string flag_of(std::string_view field);

// From here on messages are for a user of this command of the program.
void remember_flags(const Command& root, const Command& chosen);

// A message of a library in the words of the command that was chosen: fields that the program has flags for
// become those. In a command that speaks in fields, as `buoy study` with its keys, only its own flags do.
std::string in_flags(const std::string& message);
// Likewise with the flags of one command, for its help.
std::string in_flags_of(const Command& command, const std::string& message);

}  // namespace buoy::app
