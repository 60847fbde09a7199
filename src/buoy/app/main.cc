#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <nlohmann/json.hpp>
#include <system_error>

#include "buoy/app/command_line.h"
#include "buoy/app/commands/commands.h"
#include "buoy/app/commands/describe_commands.h"
#include "buoy/app/exit_codes.h"
#include "buoy/app/options/flags.h"
#include "buoy/app/standard_streams.h"
#include "buoy/base/error.h"
#include "buoy/base/interrupt.h"
#include "buoy/base/say.h"
#include "buoy/base/version.h"

namespace buoy::app {
namespace {

int report(const char* kind, const char* what, int code) {
  say("buoy: {}{}\n", kind, what);
  return code;
}

void add_commands(Command& app) {
  app.version(fmt::format("{} (commit {})", version(), commit()));
  app.footer(
      "`buoy COMMAND --help` has the options and examples of one command. docs/command-line.md lists all "
      "options.\n"
      "Exit codes: 0 done, 2 wrong usage, 3 bad input files, 4 the machine refused (disk, memory), 70 a "
      "bug,\n"
      "75 stopped by SIGTERM or SIGUSR1 behind the sample in hand, 130 Ctrl-C, 141 nobody reads the output.");
  app.examples({
      {"buoy inspect models/natural-diffusion", "what is in a checkpoint folder"},
      {"printf 'Question: Who employs Klados Hebwick?\\nAnswer:' | buoy generate --model "
       "models/natural-diffusion --file - --max-new-tokens 8",
       "watch it write"},
  });
  add_inspect(app);
  add_tokenize(app);
  add_generate(app);
  add_forward(app);
  add_trace(app);
  add_watch(app);
  add_compact(app);
  add_export(app);
  add_analyze(app);
  add_report(app);
  add_world(app);
  add_haystack(app);
  add_index(app);
  add_search(app);
  add_eval(app);
  add_score(app);
  add_study(app);
  add_merge(app);
  add_status(app);
  add_devices(app);
  add_bench(app);
}

int run(int argc, char** argv) {
  try {
    remember_command(argc, argv);
    Command app("buoy",
                "Buoy watches where attention floats: it runs masked-diffusion and autoregressive language "
                "models\nfrom their Hugging Face folders and shows what their attention does.\n");
    bool describe = false;
    app.add_flag("--describe", describe, "print all commands, options and examples as JSON");
    add_commands(app);
    word_messages(in_flags);
    app.callback([&] {
      if (!describe)
        throw_usage_error({"buoy", "a command, as in `buoy inspect DIR`; --help lists them", "none"});
      fmt::print("{}\n", dump_json(describe_commands(app), 1));
    });
    parse_command_line(app, argc, argv)();
    return 0;
  } catch (const Stopped& error) {
    say("{}", said_when_interrupted());
    return report("", error.what(), kStopped);
  } catch (const UsageError& error) {
    return report("", error.what(), kWrongUsage);
  } catch (const InputError& error) {
    return report("", error.what(), kBadInput);
  } catch (const IoError& error) {
    return report("", error.what(), kMachineFailed);
  } catch (const std::bad_alloc&) {
    return report("", "out of memory", kMachineFailed);
  } catch (const std::system_error& error) {
    // fmt throws one when standard output cannot be written; others are the file system's.
    if (std::ferror(stdout) != 0) return report_output_failure(error.code().value());
    return report("", error.what(), kMachineFailed);
  } catch (const std::exception& error) {
    return report("bug, please report it: ", error.what(), kBug);
  }
}

}  // namespace
}  // namespace buoy::app

int main(int argc, char** argv) {
  buoy::app::open_missing_streams();
  std::signal(SIGPIPE, SIG_IGN);  // a lost log ends no run; lost output is found when it is written
  buoy::catch_interrupts();
  return buoy::app::close_output(buoy::app::run(argc, argv));
}
