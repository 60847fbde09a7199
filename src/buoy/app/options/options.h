#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "buoy/app/options/option_values.h"

namespace buoy::app {

// The command line as data: commands declare their options here, options_cli11.cc parses words by them. No
// other file knows the parser.
class Option {
 public:
  using Read = std::function<std::string(const std::string& word, const ValueCheck& check)>;

  Option* required();
  Option* type_name(const std::string& name);  // what help calls the value
  Option* group(const std::string& name);      // heading in help
  Option* delimiter(char between);             // one word may hold several values
  Option* alias(const std::string& name);      // an old name that still works and is not shown
  Option* needs(const Option* other);
  Option* excludes(const Option* other);
  Option* positive();     // more than 0
  Option* nonnegative();  // 0 or more
  Option* range(double least, double most);
  Option* one_of(const std::vector<std::string>& words);

  const std::string& name() const { return name_; }  // "--seed"; without dashes: by its place
  const std::string& help() const { return help_; }
  const std::string& type() const { return type_; }
  const std::vector<std::string>& aliases() const { return aliases_; }
  bool is_flag() const { return flag_ != nullptr; }
  bool given() const { return given_; }

 private:
  friend class Command;
  friend class CommandParser;

  std::string name_, help_, type_, group_ = "Options";
  std::vector<std::string> aliases_;
  std::vector<const Option*> needs_, excludes_;
  ValueCheck check_;
  std::function<void()> forget_;
  Read read_;             // of options with a value
  bool* flag_ = nullptr;  // of flags
  bool many_ = false;     // takes any number of words
  bool required_ = false;
  char delimiter_ = '\0';
  bool given_ = false;
};

// A call that help shows and a test runs.
struct Example {
  std::string call;  // "buoy inspect models/natural-diffusion"
  std::string note;  // what it does; may be ""
};

class Command {
 public:
  Command(std::string name, std::string description);

  Command* add_subcommand(const std::string& name, const std::string& description);
  Option* add_flag(const std::string& name, bool& value, const std::string& help);
  template <typename Value>
  Option* add_option(const std::string& name, Value& value, const std::string& help) {
    Option* option = add(name, help);
    option->type_ = ValueKind<Value>::kName;
    option->many_ = ValueKind<Value>::kMany;
    option->forget_ = [&value] { forget_default(value); };
    option->read_ = [&value](const std::string& word, const ValueCheck& check) {
      return read_value(word, check, value);
    };
    return option;
  }
  Option* get_option(const std::string& name);
  void footer(const std::string& text);              // below the options in help
  void examples(std::vector<Example> calls);         // below the footer
  void version(const std::string& text);             // what --version prints
  void callback(const std::function<void()>& work);  // what the command does
  void speak_in_fields();                            // what it asks for is said in a file, by keys

  const std::string& name() const { return name_; }
  bool speaks_in_fields() const { return speaks_in_fields_; }
  const std::vector<std::unique_ptr<Option>>& options() const { return options_; }
  const std::vector<std::unique_ptr<Command>>& subcommands() const { return subcommands_; }
  const std::vector<Example>& examples() const { return examples_; }

 private:
  friend class CommandParser;
  Option* add(const std::string& name, const std::string& help);

  std::string name_, description_, footer_, version_;
  std::vector<std::unique_ptr<Option>> options_;
  std::vector<std::unique_ptr<Command>> subcommands_;
  std::vector<Example> examples_;
  std::function<void()> work_;
  bool speaks_in_fields_ = false;
};

// Reads the words into the values that `root` declares and returns the work of the command that was chosen.
// Help and version are printed here; the work then is nothing. UsageError for words that make no call.
std::function<void()> parse_command_line(const Command& root, int argc, const char* const* argv);

}  // namespace buoy::app
