#include "buoy/app/options/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "buoy/base/error.h"

namespace buoy::app {

Option* Option::required() {
  required_ = true;
  return this;
}

Option* Option::type_name(const std::string& name) {
  type_ = name;
  return this;
}

Option* Option::group(const std::string& name) {
  group_ = name;
  return this;
}

Option* Option::delimiter(char between) {
  delimiter_ = between;
  return this;
}

Option* Option::alias(const std::string& name) {
  aliases_.push_back(name);
  return this;
}

Option* Option::needs(const Option* other) {
  needs_.push_back(other);
  return this;
}

Option* Option::excludes(const Option* other) {
  excludes_.push_back(other);
  return this;
}

Option* Option::positive() {
  check_.least = 0;
  check_.more_than_least = true;
  type_ += " > 0";
  return this;
}

Option* Option::nonnegative() {
  check_.least = 0;
  type_ += " >= 0";
  return this;
}

Option* Option::range(double least, double most) {
  check_.least = least;
  check_.most = most;
  type_ = fmt::format("{} in {}..{}", type_, least, most);
  return this;
}

Option* Option::one_of(const std::vector<std::string>& words) {
  check_.words = words;
  type_ = fmt::format("{{{}}}", fmt::join(words, ","));
  return this;
}

Command::Command(std::string name, std::string description)
    : name_(std::move(name)), description_(std::move(description)) {}

Command* Command::add_subcommand(const std::string& name, const std::string& description) {
  return subcommands_.emplace_back(std::make_unique<Command>(name, description)).get();
}

Option* Command::add(const std::string& name, const std::string& help) {
  Option* option = options_.emplace_back(std::make_unique<Option>()).get();
  option->name_ = name;
  option->help_ = help;
  return option;
}

Option* Command::add_flag(const std::string& name, bool& value, const std::string& help) {
  Option* option = add(name, help);
  option->flag_ = &value;
  return option;
}

Option* Command::get_option(const std::string& name) {
  for (const auto& option : options_) {
    if (option->name_ == name) return option.get();
  }
  throw InternalError("no option " + name);
}

void Command::footer(const std::string& text) {
  footer_ = text;
}

void Command::examples(std::vector<Example> calls) {
  examples_ = std::move(calls);
}

void Command::version(const std::string& text) {
  version_ = text;
}

void Command::speak_in_fields() {
  speaks_in_fields_ = true;
}

void Command::callback(const std::function<void()>& work) {
  work_ = work;
}

}  // namespace buoy::app
