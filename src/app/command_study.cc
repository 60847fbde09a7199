#include <fmt/format.h>

#include <memory>

#include "app/commands.h"
#include "app/model_folder.h"
#include "app/shared_options.h"
#include "app/study_runner.h"
#include "base/interrupt.h"

namespace buoy::app {

void add_study(Command& app) {
  struct Options {
    std::string file, out, device = "auto";
    int threads = 0;
    bool check = false;
  };
  auto* command = app.add_subcommand("study", "run a whole study that a file describes, to one report");
  auto options = std::make_shared<Options>();
  command->add_option("file", options->file, "description of the study (docs/studies.md)")
      ->required()
      ->type_name("FILE.toml");
  add_out_option(*command, options->out);
  add_threads_option(*command, options->threads);
  add_device_option(*command, options->device);
  command->add_flag("--check", options->check, "only read the file and check what it needs");
  command->footer(
      "Interrupted studies go on where they were. --out takes the place of the folder in the file.");
  command->examples({{"buoy study studies/default.toml --check", "what the study of the bundled pair needs"},
                     {"buoy study studies/default.toml", "runs it: two minutes"}});
  command->callback([options] {
    StudyCall call{study::read_study(options->file), options->threads, device_from_name(options->device)};
    if (!options->out.empty()) call.study.out = options->out;
    if (options->check) {
      check_study(call);
      fmt::print("{}: {} models, {} data sets, {} traces, {} evaluations\n", options->file,
                 call.study.models.size(), call.study.data.size(), call.study.traces.size(),
                 call.study.evaluations.size());
      return;
    }
    say_when_interrupted("buoy: interrupted; the same command goes on where the study was\n");
    run_study(call);
  });
}

}  // namespace buoy::app
