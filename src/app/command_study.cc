#include <fmt/format.h>

#include <memory>

#include "app/commands.h"
#include "app/model_folder.h"
#include "app/study_runner.h"

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
  command->add_option("--out", options->out, "folder instead of the file's own")->type_name("DIR");
  command->add_option("--threads", options->threads, "threads to use (default: all cores)")->range(0, 4096);
  add_device_option(*command, options->device);
  command->add_flag("--check", options->check, "only read the file and check what it needs");
  command->footer(
      "Interrupted studies go on where they were. Examples:\n"
      "  buoy study studies/default.toml      the bundled pair, two minutes\n"
      "  buoy study studies/paper.toml        the published study; put the paths of the four checkpoints in");
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
    run_study(call);
  });
}

}  // namespace buoy::app
