#include <fmt/format.h>

#include <exception>
#include <new>

#include "app/command_line.h"
#include "app/commands.h"
#include "base/error.h"
#include "base/version.h"

namespace {

// Exit codes: scripts can tell a wrong call from bad files from a failing machine from a bug.
constexpr int kWrongUsage = 2;
constexpr int kBadInput = 3;
constexpr int kMachineFailed = 4;
constexpr int kBug = 70;

int report(const char* kind, const std::string& what, int code) {
  fmt::print(stderr, "buoy: {}{}\n", kind, what);
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  buoy::app::remember_command(argc, argv);
  buoy::app::Command app(
      "buoy",
      "Buoy watches where attention floats: it runs masked-diffusion and autoregressive language models\n"
      "from their Hugging Face folders and shows what their attention does.\n");
  app.version(fmt::format("{} (commit {})", buoy::version(), buoy::commit()));
  app.footer(
      "First steps:\n"
      "  buoy inspect DIR                                   what is in a checkpoint folder\n"
      "  buoy generate --model DIR --prompt \"Hello\" --chat  watch it write\n"
      "  buoy COMMAND --help                                options and examples of one command\n"
      "Exit codes: 0 done, 2 wrong usage, 3 bad input files, 4 the machine refused (disk, memory), 70 a "
      "bug.");
  buoy::app::add_inspect(app);
  buoy::app::add_tokenize(app);
  buoy::app::add_generate(app);
  buoy::app::add_forward(app);
  buoy::app::add_trace(app);
  buoy::app::add_export(app);
  buoy::app::add_analyze(app);
  buoy::app::add_report(app);
  buoy::app::add_world(app);
  buoy::app::add_index(app);
  buoy::app::add_search(app);
  buoy::app::add_eval(app);
  buoy::app::add_study(app);
  buoy::app::add_devices(app);
  buoy::app::add_bench(app);
  try {
    buoy::app::parse_command_line(app, argc, argv)();
    return 0;
  } catch (const buoy::UsageError& error) {
    return report("", error.what(), kWrongUsage);
  } catch (const buoy::InputError& error) {
    return report("", error.what(), kBadInput);
  } catch (const buoy::IoError& error) {
    return report("", error.what(), kMachineFailed);
  } catch (const std::bad_alloc&) {
    return report("", "out of memory", kMachineFailed);
  } catch (const std::exception& error) {
    return report("bug, please report it: ", error.what(), kBug);
  }
}
