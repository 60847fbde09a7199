#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <span>
#include <string_view>
#include <utility>

#include "buoy/app/options/flags.h"
#include "buoy/app/options/options.h"
#include "buoy/base/error.h"
#include "buoy/base/nearest.h"

namespace buoy::app {
namespace {

constexpr const char* kMoreHelp = "Run with --help for more information.";

// Help shows the name of an option and not its old ones.
class HelpFormatter final : public CLI::Formatter {
 public:
  std::string make_option_name(const CLI::Option* option, bool is_positional) const override {
    if (is_positional || option->get_lnames().empty())
      return Formatter::make_option_name(option, is_positional);
    const std::string shorter = option->get_snames().empty() ? "" : "-" + option->get_snames().front() + ",";
    return shorter + "--" + option->get_lnames().front();
  }
};

}  // namespace

class CommandParser {
 public:
  static std::function<void()> choose(const Command& root, std::span<const char* const> words);
  [[noreturn]] static void refuse_command(const Command& root, const std::string& word);

 private:
  CommandParser(const Command& command, const std::string& title)
      : command_(command), app_(command.description_, title) {
    app_.formatter(std::make_shared<HelpFormatter>());
    app_.footer(command.footer_ + examples_text());
    if (!command.version_.empty()) app_.set_version_flag("--version", command.version_);
    for (const auto& option : command.options_) add(*option);
    for (const auto& option : command.options_) relate(*option);
    for (const auto& sub : command.subcommands_) app_.add_subcommand(sub->name_, sub->description_);
  }

  // False: help was asked for and printed.
  bool parse(std::span<const char* const> words) {
    std::vector<std::string> reversed(words.rbegin(), words.rend());
    try {
      app_.parse(reversed);
    } catch (const CLI::Success& help) {
      app_.exit(help);
      return false;
    } catch (const CLI::ParseError& error) {
      // A misspelt option is named even where CLI11 first misses the one that was meant.
      for (const auto& word : app_.remaining()) {
        if (word.starts_with('-') || dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) refuse(word);
      }
      throw UsageError(fmt::format("{}\n{}", error.what(), kMoreHelp));
    }
    for (const auto& option : command_.options_) read(*option);
    return true;
  }

  std::string examples_text() const {
    if (command_.examples_.empty()) return {};
    std::string text = command_.footer_.empty() ? "Examples:" : "\nExamples:";
    for (const auto& example : command_.examples_)
      text += fmt::format("\n  {}{}{}", example.call, example.note.empty() ? "" : "   # ", example.note);
    return text;
  }

  [[noreturn]] void refuse(const std::string& word) const {
    const std::string name = word.substr(0, word.find('='));
    if (!name.starts_with('-')) throw_usage_error({app_.get_name(), "no more words", '"' + word + '"'});
    std::vector<std::string> known = {"--help"};
    for (const auto& option : command_.options_) {
      if (option->name_.starts_with('-')) known.push_back(option->name_);
    }
    const std::string near = nearest(name, known);
    throw_usage_error({app_.get_name(),
                       near.empty() ? "an option of its own (--help lists them)"
                                    : fmt::format("an option of its own; did you mean {}?", near),
                       '"' + name + '"'});
  }

  void add(Option& option) {
    std::string names = option.name_;
    for (const auto& alias : option.aliases_) names += "," + alias;
    CLI::Option* made = nullptr;
    if (option.is_flag()) {
      made = app_.add_flag(names, std::as_const(option.help_));
    } else {
      made = app_.add_option(
          names, [](const CLI::results_t&) { return true; }, option.help_);
      made->type_name(option.type_)->required(option.required_);
      if (option.many_) made->expected(CLI::detail::expected_max_vector_size);
      if (option.delimiter_ != '\0') made->delimiter(option.delimiter_);
    }
    made->group(option.group_);
    made_[&option] = made;
  }

  void relate(const Option& option) {
    for (const auto* other : option.needs_) made_.at(&option)->needs(made_.at(other));
    for (const auto* other : option.excludes_) made_.at(&option)->excludes(made_.at(other));
  }

  void read(Option& option) {
    const CLI::Option* made = made_.at(&option);
    option.given_ = made->count() > 0;
    if (!option.given_) return;
    if (option.is_flag()) {
      *option.flag_ = true;
      return;
    }
    option.forget_();
    for (const auto& word : made->results()) {
      const std::string expected = option.read_(word, option.check_);
      if (!expected.empty()) throw_usage_error({option.name_, expected, '"' + word + '"'});
    }
  }

  const Command& command_;
  CLI::App app_;
  std::map<const Option*, CLI::Option*> made_;
};

void CommandParser::refuse_command(const Command& root, const std::string& word) {
  std::vector<std::string> known;
  for (const auto& command : root.subcommands_) known.push_back(command->name_);
  const std::string near = nearest(word, known);
  throw_usage_error({root.name_,
                     near.empty() ? fmt::format("a command: {}", fmt::join(known, ", "))
                                  : fmt::format("a command; did you mean {}?", near),
                     '"' + word + '"'});
}

std::function<void()> CommandParser::choose(const Command& root, std::span<const char* const> words) {
  if (!words.empty()) {
    for (const auto& command : root.subcommands_) {
      if (command->name_ != words.front()) continue;
      CommandParser parser(*command, fmt::format("{} {}", root.name_, command->name_));
      if (!parser.parse(words.subspan(1))) return [] {};
      remember_flags(root, *command);
      return command->work_;
    }
    if (!std::string_view(words.front()).starts_with('-')) refuse_command(root, words.front());
  }
  CommandParser parser(root, root.name_);
  return parser.parse(words) ? root.work_ : [] {};
}

std::function<void()> parse_command_line(const Command& root, int argc, const char* const* argv) {
  return CommandParser::choose(root, {argv + 1, static_cast<size_t>(std::max(argc - 1, 0))});
}

}  // namespace buoy::app
