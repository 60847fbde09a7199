#include "buoy/app/options/flags.h"

#include <map>
#include <set>

#include "buoy/app/options/options.h"
#include "buoy/base/field_name.h"

namespace buoy::app {
namespace {

// Flags that are called otherwise than their fields.
const std::map<std::string_view, std::string>& renamed() {
  static const std::map<std::string_view, std::string> all = {
      {"mask_token", "--mask-token-id"}, {"eos_tokens", "--eos-token-id"}, {"eot_token", "--eot-token-id"},
      {"style", "--chat-style"},         {"date", "--chat-date"},          {"evaluations", "--eval"}};
  return all;
}

std::set<std::string>& known_flags() {
  static std::set<std::string> flags;
  return flags;
}

void add_flags(std::set<std::string>& flags, const Command& command) {
  for (const auto& option : command.options()) flags.insert(option->name());
}

std::string in_flags(const std::string& message, const std::set<std::string>& flags) {
  std::string out;
  for (std::size_t at = 0; at < message.size();) {
    const std::size_t begin = message.find(kFieldMark, at);
    const std::size_t end = begin == std::string::npos ? begin : message.find(kFieldMark, begin + 1);
    if (end == std::string::npos) return out + message.substr(at);
    const std::string flag = flag_of(std::string_view(message).substr(begin + 1, end - begin - 1));
    const bool known = flags.contains(flag);
    out += message.substr(at, begin - at);
    out += known ? flag : message.substr(begin, end - begin);
    at = known ? end + 1 : end;  // a mark that closes no field may open one
  }
  return out;
}

}  // namespace

std::string flag_of(std::string_view field) {
  if (const auto found = renamed().find(field); found != renamed().end()) return found->second;
  std::string flag = "--";
  for (const char c : field) flag += c == '_' ? '-' : c;
  return flag;
}

void remember_flags(const Command& root, const Command& chosen) {
  known_flags().clear();
  add_flags(known_flags(), chosen);
  if (chosen.speaks_in_fields()) return;
  for (const auto& command : root.subcommands()) add_flags(known_flags(), *command);
}

std::string in_flags(const std::string& message) {
  return in_flags(message, known_flags());
}

std::string in_flags_of(const Command& command, const std::string& message) {
  std::set<std::string> flags;
  add_flags(flags, command);
  return in_flags(message, flags);
}

}  // namespace buoy::app
